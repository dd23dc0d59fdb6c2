"""Check that everything that a SQL file refers to exists, and that each of its LEFT JOINs finds at
most one row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import did_you_mean, join_sentences, suggest_choice
from sqlrank.registry.contract import Violation, check_syntax_rules, raise_violations
from sqlrank.registry.query_templates import read_row_checks
from sqlrank.registry.resolved_metric import MAP, NO_BOUNDS
from sqlrank.registry.settings_checks import TIE_BOUNDS, tie_bounds_problem
from sqlrank.registry.sql_file import (
    ANNOTATIONS,
    DEPTHS,
    GRAIN,
    INTERVAL,
    SCOPES,
    TIE_EXPECTATIONS,
    Bounds,
    RowsRead,
    SqlFile,
    read_interval,
)
from sqlrank.rendering.dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlrank.registry.registry import Registry


Keys = list[frozenset[str]]
"""Columns that identify a row, in each variant of a relation."""


GROUP_KEYS = {"group_id", "list_id"}
"""Columns that name the group of a row."""


def find_multiplying_joins(file: SqlFile, library: Registry) -> Iterator[Violation]:
    """Yield the LEFT JOINs of a file that may find several rows, and the joins that may find those
    of other groups.

    Where a relation has many rows per key, as it says, its LEFT JOINs may find several.
    """
    for join in file.tree.find_all(exp.Join):
        if grouped := _find_grouped_source(join, library):
            alias = join.this.alias_or_name
            yield (
                join.this,
                (
                    f"rows of {alias} are of groups, as those of {grouped}. Compare"
                    f" {alias}.group_id in ON, which statements leave out where there are none"
                ),
            )
        repeats_rows = (
            join.parent is file.tree and file.row_grain is not None and not file.row_grain.is_unique
        )
        if join.side != "LEFT" or repeats_rows:
            continue
        alias, keys = join.this.alias_or_name, _row_keys(join.this, library)
        compared = _compared_columns(join.args.get("on"), alias)
        if keys is None:
            yield (
                join.this,
                (
                    f"nothing is known to identify a row of {alias}, of which a LEFT JOIN finds"
                    f" one. {_ADVICE}"
                ),
            )
        elif missing := next((key for key in keys if not key <= compared), None):
            yield (
                join.this,
                (
                    f"a LEFT JOIN finds one row, and those of {alias} are identified by"
                    f" {', '.join(sorted(missing))}. Compare these in ON"
                ),
            )


def _find_grouped_source(join: exp.Join, library: Registry) -> str:
    """Return the source of groups that a join does not compare with those of its rows; empty if it
    compares them, or there is none.

    A LEFT JOIN of a relation is checked by the grain of that.
    """
    is_checked_by_grain = join.side == "LEFT" and join.this.name not in library.roles
    compared = _compared_columns(join.args.get("on"), join.this.alias_or_name)
    if is_checked_by_grain or compared & GROUP_KEYS or not _has_groups(join.this, library):
        return ""
    select: Any = join.parent
    earlier = [
        select.args["from_"].this,
        *(other.this for other in select.args["joins"][: join.index]),
    ]
    return next((source.alias_or_name for source in earlier if _has_groups(source, library)), "")


def _has_groups(source: exp.Expr, library: Registry) -> bool:
    """Return True if an item of FROM has a column with the group of its rows, as all inputs but the
    queries table.
    """
    if isinstance(source, exp.Subquery):
        return bool(GROUP_KEYS & set(source.this.named_selects))
    if source.name in library.roles:
        return source.name != "queries"
    return any(
        GROUP_KEYS & set(file.tree.named_selects) for file in library.relation_files(source.name)
    )


_ADVICE = (
    "Declare it (-- Grain: ... of a relation, unique = [...] of a role), or join a subquery with"
    " GROUP BY"
)


def _compared_columns(condition: exp.Expr | None, alias: str) -> set[str]:
    """Return the columns of a joined source that are compared for equality."""
    conjuncts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    sides = [
        side
        for conjunct in conjuncts
        if isinstance(conjunct, exp.EQ)
        for side in (conjunct.this, conjunct.expression)
    ]
    return {side.name for side in sides if isinstance(side, exp.Column) and side.table == alias}


def _row_keys(source: exp.Expr, library: Registry) -> Keys | None:
    """Return the columns that identify a row of an item of FROM, None if there are none."""
    if isinstance(source, exp.Subquery):
        return _query_keys(source.this, library)
    if source.name in library.roles:
        grains = [library.roles[source.name].row_grain]
    else:
        declared = [file.row_grain for file in library.relation_files(source.name)]
        grains = [grain for grain in declared if grain is not None]
        if len(grains) < len(declared):
            return None
    return (
        [frozenset(grain.columns) for grain in grains]
        if grains and all(grain.is_unique for grain in grains)
        else None
    )


def _query_keys(query: exp.Expr, library: Registry) -> Keys | None:
    """Return the columns that identify a row of a SELECT, by their names in it; the cast of a key
    is taken for the key.
    """
    if not isinstance(query, exp.Select):
        return None
    group, joins = query.args.get("group"), query.args.get("joins") or []
    source = query.args["from_"].this
    sources = {
        item.alias_or_name: _row_keys(item, library)
        for item in [source, *(join.this for join in joins)]
    }
    if group is not None:
        keys: Keys | None = [_independent_terms(group.expressions, sources)]
    elif query.find(exp.AggFunc) and not query.find(exp.Window):
        return [frozenset()]
    else:
        keys = sources[source.alias_or_name] if all(join.side == "LEFT" for join in joins) else None
    names = {
        value.name: item.alias_or_name
        for item in query.selects
        if isinstance(value := _strip_cast(item.unalias()), exp.Column)
    }
    if keys is None or not all(key <= names.keys() for key in keys):
        return None
    return [frozenset(names[name] for name in key) for key in keys]


def _strip_cast(value: exp.Expr) -> exp.Expr:
    return value.this if isinstance(value, exp.Cast) else value


def _independent_terms(
    terms: Sequence[exp.Expr], sources: dict[str, Keys | None]
) -> frozenset[str]:
    """Return the terms of a GROUP BY without columns that the key of their source determines, if
    that is among them.
    """
    names_by_source: dict[str, set[str]] = {}
    for term in terms:
        names_by_source.setdefault(term.table if isinstance(term, exp.Column) else "", set()).add(
            term.name
        )
    for alias, names in names_by_source.items():
        keys = sources.get(alias) or []
        if len(keys) == 1 and keys[0] <= names:
            names_by_source[alias] = set(keys[0])
    return frozenset().union(*names_by_source.values())


REFERENCE_VALUE = re.compile(r"(-?\d+(?:\.\d+)?) \((.+)\)\.?")
"""A value to compare with, and its meaning in brackets."""

_KEYWORD = re.compile(r"([A-Z]\w*(?: \w+){0,2}): ")
"""The start of a comment line that has the form of an annotation."""

FORMER_ANNOTATIONS = {
    "Across lists": "-- Scope: group",
    "Before": "-- Reads: previous run as baseline",
    "Better": "-- Direction:",
    "Bounds": "-- Range:",
    "Check": "-- Validate:",
    "Costly": "-- Materialize:",
    "Default": "the function under [functions] in policies.toml",
    "Engine": "-- Engines:",
    "Estimand": "-- Range: 0 to 1, but not estimates under ratio_estimate=corrected",
    "Found by": "-- Influence key:",
    "Influence": "-- Interval: influence",
    "Interval of": "-- Interval: of",
    "Linear": "-- Tie expectation: linear",
    "Never zero": "-- Nonzero:",
    "No influence": "-- Interval: bootstrap (reason)",
    "No interval": "-- Interval: none (reason)",
    "Orders": "-- Tie bounds:",
    "Per score": "-- Scope: score",
    "Per slice": "-- Scope: slice",
    "Per system": "-- Scope: system",
    "Previous run": "-- Reads: previous run as baseline",
    "Probability": "-- Requires: stop_probability() at most 1",
    "Rows": "-- Reads:",
    "Spread": "-- Tie expectation: spread",
    "Standard error": "-- Interval: influence ..., error",
    "Units": "-- Sampling unit:",
    "With k": "'pauc@' = ... under [hints] of names.toml",
    "Without depth": "[unjudged.values.drop.with.depth] in policies.toml",
}
"""Replacements of keywords of files from before 0.1.0; unlike names in calls, these are in users'
own folders.
"""


def check_contract(file: SqlFile, library: Registry) -> None:
    """Check a file against the contract, and check the names that it uses.

    Raises:
        ContractError: One message for each violation.
    """
    declared = {
        name: param.is_above_zero
        for name, param in file.params.items()
        if not _is_relation_parameter(name, file, library)
    }
    check_syntax_rules(file.kind, file.path, file.text, file.statement, declared)
    names = (
        _check_parameters,
        _check_tables,
        _check_calls,
        _check_columns,
        _annotation_keywords,
        _check_requirements,
        _annotation_references,
        _check_depth,
        _check_grain,
    )
    rules = (*names, find_multiplying_joins)
    raise_violations(
        file.path, file.text, [violation for rule in rules for violation in rule(file, library)]
    )


def _is_relation_parameter(param: str, file: SqlFile, library: Registry) -> bool:
    """Return True if a metric only passes a parameter on to its relation."""
    is_own = file.kind not in {"metrics", "curves"} or any(
        node.name == param for node in file.tree.find_all(exp.Placeholder)
    )
    return not is_own and _reads_parameter(file.source_relation, param, library)


def _reads_parameter(relation: str, param: str, library: Registry) -> bool:
    """Return True if every variant of a relation reads a parameter, directly or through others."""
    variants = [library.validate_file(variant) for variant in library.relation_files(relation)]
    read_relations = (
        {table.name for table in variant.tree.find_all(exp.Table)} - {relation}
        for variant in variants
    )
    variant_relations = zip(variants, read_relations, strict=True)
    return bool(variants) and all(
        param in file.params or any(_reads_parameter(name, param, library) for name in names)
        for file, names in variant_relations
    )


def _check_parameters(file: SqlFile, library: Registry) -> Iterator[Violation]:
    for name in file.params:
        if name in library.functions or name in library.policies:
            setting_kind = "function" if name in library.functions else "policy"
            yield (
                f"${name}",
                (
                    f"a parameter cannot be called {name!r}, as a {setting_kind} is, which would"
                    " then take no value but a parameter's. Choose another name"
                ),
            )


def _check_tables(file: SqlFile, library: Registry) -> Iterator[Violation]:
    allowed = library.relation_names | library.roles.keys()
    list_roles = {role.name for role in library.roles.values() if role.list_relation}
    for table in file.tree.find_all(exp.Table):
        if (
            table.db
            or table.name not in allowed
            or (file.kind == "metrics" and table.name in list_roles)
        ):
            yield (
                table,
                join_sentences(
                    f"no relation {table.sql('duckdb')!r}",
                    did_you_mean(table.name, allowed),
                    "A file reads relations only",
                ),
            )
        elif (
            file.kind == "relations" and table.name == file.name and table.name not in library.roles
        ):
            yield table, f"a relation cannot read itself, {file.name!r}"


def _check_calls(file: SqlFile, library: Registry) -> Iterator[Violation]:
    engine = file.annotations.get("Engines", "").partition(",")[0]
    for call in file.tree.find_all(exp.Anonymous):
        slot = call.name.lower()
        if engine in DIALECTS and slot in DIALECTS[engine].file_functions:
            continue
        if slot not in library.functions:
            yield call, _unknown_function(call.name, library)
        elif len(library.function_arguments(slot)) != len(call.expressions):
            arguments = library.function_arguments(slot)
            yield call, f"{call.name} takes {len(arguments)} arguments: {', '.join(arguments)}"
        elif file.kind == "functions" and slot == file.name:
            yield call, f"a function cannot call itself, {call.name!r}"
        elif file.kind == "metrics" and not _is_aggregate(call, library):
            yield call, f"{call.name} is outside an aggregate"
        elif file.kind in {"metrics", "curves"} and slot not in {
            *file.declared_settings,
            *library.formulas,
        }:
            yield (
                call,
                (
                    f"{call.name} is used, but not documented. Add a line '-- {call.name}():"
                    " default ...: what it is.'"
                ),
            )
    if file.kind == "functions" and file.function_arguments != library.function_arguments(
        file.name
    ):
        yield (
            "CREATE",
            f"the arguments of {file.name} are: {', '.join(library.function_arguments(file.name))}",
        )


def _is_aggregate(call: exp.Anonymous, library: Registry) -> bool:
    """Return True if a call aggregates its columns, or is in an aggregate or such a call."""
    return (
        call.find_ancestor(exp.AggFunc, exp.Anonymous) is not None
        or _calls_aggregate(call.name.lower(), library)
        or all(column.find_ancestor(exp.AggFunc) for column in call.find_all(exp.Column))
    )


def _calls_aggregate(slot: str, library: Registry) -> bool:
    """Return True if a function, or one that it calls, has an aggregate."""
    trees = [file.tree for file in library.functions.get(slot, {}).values()]
    return any(
        tree.find(exp.AggFunc)
        or any(
            _calls_aggregate(call.name.lower(), library) for call in tree.find_all(exp.Anonymous)
        )
        for tree in trees
    )


def _unknown_function(name: str, library: Registry) -> str:
    return join_sentences(
        f"no function {name!r}",
        did_you_mean(name, library.functions),
        "Functions are files in functions/",
    )


def _check_columns(file: SqlFile, library: Registry) -> Iterator[Violation]:
    if file.kind in {"relations", "curves"}:
        stand_ins = file.annotations.get("For each", "").partition(" (")[0].split(", ")
        for select in file.tree.find_all(exp.Select):
            yield from (
                (column, problem)
                for column, problem in _source_columns(select, library)
                if column.name not in stand_ins
            )
            yield from _unqualified_lookups(select, library)
        return
    available = _readable_columns(file, library)
    if available is None:
        return
    for column in file.tree.find_all(exp.Column):
        if column.name not in available:
            yield (
                column,
                suggest_choice(
                    f"no column {column.name!r}", column.name, sorted(available), "There are"
                ),
            )


def _readable_columns(file: SqlFile, library: Registry) -> set[str] | None:
    """Return the columns that a function or metric may use, None if they are unknown."""
    if file.kind == "functions":
        return set(file.function_arguments)
    if file.kind != "metrics" or not isinstance(file.tree, exp.Select):
        return None
    return _table_columns(file.source_relation, library)


def _table_columns(name: str, library: Registry) -> set[str] | None:
    """Return the columns of an input or a relation, None if there is none of this name."""
    role = library.roles.get(name)
    if role is not None:
        return {"group_id", "list_id", *role.columns}
    variants = library.relation_files(name)
    return (
        {
            column
            for variant in variants
            for column in library.validate_file(variant).tree.named_selects
        }
        if variants
        else None
    )


def _source_columns(select: exp.Select, library: Registry) -> Iterator[tuple[exp.Column, str]]:
    """Yield columns that no source of a SELECT has: misspelt ones, also in capitals, and those that
    the SELECT computes itself.
    """
    available: dict[str, set[str]] = {}
    outer: exp.Expr | None = select
    while isinstance(outer, exp.Select):
        for clause in (outer.args.get("from_"), *(outer.args.get("joins") or [])):
            if clause is not None:
                available.setdefault(
                    clause.this.alias_or_name, _named_columns(clause.this, library)
                )
        outer = outer.find_ancestor(exp.Select, exp.From, exp.Join)
    computed = {item.alias for item in select.expressions if isinstance(item, exp.Alias)}
    for column in select.find_all(exp.Column):
        is_sort_key = isinstance(
            column.parent, exp.Ordered
        ) and column.parent.parent is select.args.get("order")
        if (
            column.parent_select is not select
            or (column.table and column.table not in available)
            or is_sort_key
        ):
            continue
        columns = available[column.table] if column.table else set().union(*available.values())
        if column.name in computed - columns:
            yield (
                column,
                f"{column.name} is computed in this SELECT, which cannot read it. Write a subquery",
            )
        elif column.name not in columns:
            yield (
                column,
                suggest_choice(
                    f"no column {column.name!r}", column.name, sorted(columns), "There are"
                ),
            )


def _unqualified_lookups(select: exp.Select, library: Registry) -> Iterator[Violation]:
    """Yield the columns of LEFT JOINs that are read without a table name, by which a join is known
    to be read.
    """
    for join in select.args.get("joins") or []:
        names, alias = (
            _declared_columns(join.this, library) if join.side == "LEFT" else set(),
            join.this.alias_or_name,
        )
        for column in select.find_all(exp.Column) if names else ():
            if not column.table and column.name in names and column.parent_select is select:
                yield (
                    column,
                    (
                        f"{column.name} may be of {alias}, which a LEFT JOIN looks up. Write"
                        f" {alias}.{column.name}"
                    ),
                )


def _named_columns(source: exp.Expr, library: Registry) -> set[str]:
    """Return the columns of an item of FROM, among them the logical keys."""
    return {"group_id", "list_id", "unit_id", *_declared_columns(source, library)}


def _declared_columns(source: exp.Expr, library: Registry) -> set[str]:
    """Return the columns that an item of FROM names itself."""
    if isinstance(source, exp.Subquery):
        return set(source.this.named_selects)
    if isinstance(source, exp.Unnest):
        position = source.args.get("offset")
        return {
            *source.alias_column_names,
            *([position.name] if isinstance(position, exp.Expr) else []),
        }
    role = library.roles.get(source.name)
    return set(role.columns) if role is not None else _table_columns(source.name, library) or set()


def _annotation_keywords(file: SqlFile, _: Registry) -> Iterator[Violation]:
    """Yield keywords that are no annotation: a misspelt one would be taken for prose, and change
    nothing.
    """
    for line in file.doc.splitlines()[1:]:
        match = _KEYWORD.match(line)
        if match and match[1] not in ANNOTATIONS:
            former = FORMER_ANNOTATIONS.get(match[1])
            advice = (
                [f"Write {former}"]
                if former
                else [did_you_mean(match[1], ANNOTATIONS), "Begin a line of prose without a colon"]
            )
            yield f"-- {match[0]}", join_sentences(f"no annotation {match[1]!r}", *advice)


def _check_requirements(file: SqlFile, library: Registry) -> Iterator[Violation]:
    allowed = declared_row_checks(library) if file.required_row_checks else {}
    for name in file.required_row_checks:
        if name not in allowed:
            yield (
                "-- Requires",
                suggest_choice(f"no requirement {name!r}", name, allowed, "There are"),
            )
    for slot in file.probabilities:
        if slot not in library.functions:
            yield "-- Requires", _unknown_function(slot, library)


def _annotation_references(file: SqlFile, library: Registry) -> Iterator[Violation]:
    if (check := file.annotations.get("Validate")) is not None and check not in library.checks:
        yield (
            "-- Validate",
            join_sentences(
                f"no check {check!r}",
                did_you_mean(check, library.checks),
                "Checks are files in checks/",
            ),
        )
    if INTERVAL in file.annotations and read_interval(file.annotations[INTERVAL]) is None:
        yield (
            f"-- {INTERVAL}",
            (
                f"cannot read {file.annotations[INTERVAL]!r}. Write 'none (reason)', 'bootstrap"
                " (reason)', 'of ratio' or 'influence x FROM relation'"
            ),
        )
    tables = {table.name for table in file.tree.find_all(exp.Table)}
    if "Steps" in file.annotations and file.steps[1] not in tables:
        yield "-- Steps", "write a number and a relation of the file, as in '9 from first_rows'"
    for scope in file.scopes:
        if scope not in SCOPES:
            yield "-- Scope", suggest_choice(f"no scope {scope!r}", scope, SCOPES, "There are")
    if file.tie_expectation not in {"", *TIE_EXPECTATIONS}:
        yield (
            "-- Tie expectation",
            f"no expectation {file.tie_expectation!r}. There are: {', '.join(TIE_EXPECTATIONS)}",
        )
    rows, names_previous_run = (
        file.annotations.get("Reads", ""),
        file.kind in {"metrics", "curves"} and file.previous_run_role in library.roles,
    )
    if rows not in {rows.value for rows in RowsRead} and not names_previous_run:
        yield (
            "-- Reads",
            (
                f"cannot read {rows!r}. Write 'unfiltered', 'with duplicates' or, for a metric or"
                " curve, 'previous run as baseline'"
            ),
        )
    yield from _check_bounds(file, library)
    yield from _reference_value(file)
    if TIE_BOUNDS in file.annotations and (problem := tie_bounds_problem(file, library)):
        yield f"-- {TIE_BOUNDS}", problem


def _check_depth(file: SqlFile, _: Registry) -> Iterator[Violation]:
    """Yield a depth that cannot be parsed, or a cut-off that the metric does not have."""
    is_metric = file.kind in {"metrics", "curves"}
    if (
        "Depth" in file.annotations
        and file.depth not in DEPTHS
        and not (is_metric and file.depth.isdecimal())
    ):
        yield (
            "-- Depth",
            (
                f"cannot read {file.depth!r}. Write 'k' or"
                f" 'all'{', or a number of documents' if is_metric else ''}"
            ),
        )
    elif (
        is_metric
        and file.depth == "k"
        and ("k" not in file.params or file.params["k"].type != "integer")
    ):
        yield "-- Depth", "there is no integer cut-off $k. Write 'all', or a number of documents"


def _check_grain(file: SqlFile, _: Registry) -> Iterator[Violation]:
    """Yield a grain that cannot be parsed, or that names no column or source of the file."""
    if GRAIN not in file.annotations:
        return
    text, grain = file.annotations[GRAIN], file.row_grain
    if file.kind != "relations":
        yield (
            f"-- {GRAIN}",
            (
                "only a relation declares its grain: a metric has a row per key, a curve one per"
                " point. Leave the line out"
            ),
        )
        return
    if grain is None:
        yield (
            f"-- {GRAIN}",
            (
                f"cannot read {text!r}. Write 'list_id, doc_id', 'many per list_id', 'rows of"
                " judgments' or 'one row'"
            ),
        )
        return
    sources = {table.name for table in file.tree.find_all(exp.Table)}
    if grain.source and grain.source not in sources:
        yield (
            f"-- {GRAIN}",
            suggest_choice(
                f"{grain.source!r} is not read", grain.source, sorted(sources), "There are"
            ),
        )
    columns = file.tree.named_selects if isinstance(file.tree, exp.Query) else []
    for column in grain.columns:
        if column not in columns:
            yield (
                f"-- {GRAIN}",
                suggest_choice(f"no column {column!r}", column, columns, "There are"),
            )


def _reference_value(file: SqlFile) -> Iterator[Violation]:
    """Yield a reference value that cannot be parsed."""
    text = file.annotations.get("Reference value")
    if text is not None and REFERENCE_VALUE.fullmatch(text) is None:
        yield "-- Reference value", f"cannot read {text!r}. Write '0.5 (random scores)'"


def _check_bounds(file: SqlFile, library: Registry) -> Iterator[Violation]:
    """Yield bounds that cannot be parsed, and exceptions that name no setting."""
    text = file.annotations.get("Range")
    if text is None or (file.kind == "functions" and text == NO_BOUNDS):
        return
    bounds = Bounds.read(text)
    if bounds is None:
        yield (
            "-- Range",
            (
                f"cannot read {text!r}. Write '0 to 1', '0 to inf' or '0 to 1, but not under"
                " precision_at=all_ranks'"
            ),
        )
        return
    for name, value in bounds.exceptions:
        allowed = library.functions.get(name) or library.policies.get(name, {}).get("values", {})
        if not allowed:
            yield (
                "-- Range",
                join_sentences(
                    f"no setting {name!r}",
                    did_you_mean(name, [*library.functions, *library.policies]),
                    "It is a slot or a policy",
                ),
            )
        elif value not in {MAP, *allowed}:
            yield "-- Range", suggest_choice(f"no {name}={value}", value, allowed, "There are")


def declared_row_checks(library: Registry) -> dict[str, str]:
    """Map each row requirement of metrics to the rule in ``checks/<role>.sql`` that verifies it."""
    return {
        rule.requirement: rule.name
        for role in library.roles
        if role in library.checks
        for rule in read_row_checks(library.checks[role])
    }
