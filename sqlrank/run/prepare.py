"""Prepare a statement: bind inputs, validate rows, choose the plan, compile the tree with audit
columns, and render its text.

``evaluate``, ``sql`` and ``dbt_model`` all use it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.request import call_settings, describe_sources, request_command
from sqlrank.compiler.layout import InputKey, ResultLayout
from sqlrank.compiler.row_keys import GROUP_ID
from sqlrank.compiler.statement import CompiledStatement, compile_statement
from sqlrank.errors import ExecutionError, InputError, MetricError, join_words
from sqlrank.inputs import cross_input_checks, row_checks
from sqlrank.inputs.assembled_inputs import ROW_NUMBER
from sqlrank.inputs.bound_input import BoundInputs, comparable_columns, find_time_zone
from sqlrank.inputs.column_binding import bind_inputs, check_independent_rows, find_read_columns
from sqlrank.inputs.column_mapping import describe_unseen_groups
from sqlrank.inputs.filters import explain_failed_cast, filter_inputs
from sqlrank.inputs.input_ctes import InputCtes, build_input_ctes
from sqlrank.inputs.row_rules import explain_source_keys, row_rules
from sqlrank.registry.metric_resolver import load_compat_mode
from sqlrank.rendering.renderer import (
    RenderedStatement,
    StatementHeader,
    render_over_tables,
    to_sql,
)
from sqlrank.run.left_out_columns import (
    AUDIT_ALL_ROWS,
    count_rows_left_out,
    list_counts,
    load_answered_lists,
    load_notes,
    load_sample_sizes,
)
from sqlrank.run.planner import choose_plan, is_rank_method_allowed, plan_summary, validate_plan
from sqlrank.sql_ast import count_rows, query_text, quoted_column, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.engines.database import Database
    from sqlrank.engines.source_tables import SourceTable
    from sqlrank.inputs.bound_input import BoundInput, BoundInputs
    from sqlrank.inputs.row_checks import CheckMode, ValidationReport
    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


GREATEST_FLOAT = 3.4e38
"""Least bound of numbers with 32 bits."""

AUDIT_INVALID_ROWS = "audit_invalid_rows"
"""Audit column: the number of invalid rows."""


@dataclass(frozen=True)
class PreparedStatement:
    """The statement of a request, and facts for the checks of the result.

    Attributes:
        inputs: The bound inputs.
        statement: The compiled statement.
        plans: The chosen plans.
        is_audited: The result has audit columns.
        report: Outcome of the checks of rankings, None if there were none.
    """

    inputs: BoundInputs
    statement: CompiledStatement
    plans: Mapping[str, ParameterValue]
    is_audited: bool
    report: ValidationReport | None

    @property
    def request(self) -> ResolvedRequest:
        """The resolved request."""
        return self.inputs.request

    @cached_property
    def rendered(self) -> RenderedStatement:
        """The text of the statement, in the user's notation and over temporary tables."""
        database = self.inputs.database
        tables = tuple(_pair_sources(table) for table in self.inputs.temporary_tables)
        return _render_cached(
            self.statement, tables, database.dialect, database.can_materialize_ctes
        )


def _pair_sources(table: SourceTable) -> tuple[exp.Expr, exp.Expr]:
    """Return the source of a table in the printed statement, and the one in its place in the
    executed statement.

    They are items of FROM, and for a query of the user, which is a CTE, two queries.
    """
    if query_text(table.display_from_item) is None:
        return table.display_from_item, table.from_item
    return table.display_from_item.this, exp.select("*").from_(table.from_item)


def prepare_statement(
    request: ResolvedRequest,
    database: Database,
    check: CheckMode = "off",
    keep_unused: bool = False,
    inputs: BoundInputs | None = None,
) -> PreparedStatement:
    """Prepare the statement of a request over the sources of a database.

    Args:
        request: The resolved request.
        database: The database session.
        check: Mode of the row checks.
        keep_unused: Skip projection pruning, so that every CTE keeps all its columns.
        inputs: The inputs of the request if they are bound already.

    Raises:
        MetricError: A plan is not possible.
        InputError: Sources or rows cannot be evaluated; the message has all problems.
    """
    validate_plan(request, database.dialect)
    inputs = filter_inputs(bind_inputs(request, database) if inputs is None else inputs)
    check_independent_rows(inputs)
    try:
        return _prepare_bound(inputs, check, keep_unused)
    except ExecutionError as error:
        explain_failed_cast(inputs, error)
        raise
    except InputError as error:
        explain_source_keys(inputs.by_role, error)
        raise


def _prepare_bound(inputs: BoundInputs, check: CheckMode, keep_unused: bool) -> PreparedStatement:
    """Prepare a statement over inputs that are bound and filtered."""
    request, database = inputs.request, inputs.database
    is_audited = check != "off" and database.can_inspect
    counts_null_ids = is_audited and _can_count_null_ids(inputs)
    report = _validate_inputs(inputs, check, counts_null_ids) if is_audited else None
    plans = choose_plan(request, inputs, None if report is None else report.rows)
    if counts_null_ids and plans["rank_method"] != "list_position":
        row_checks.validate_rows(inputs.by_role["run"], inputs.needed_columns["run"], ())
        counts_null_ids = False
    input_ctes = build_input_ctes(inputs, plain=plans["list_key"] == "input")
    qrels = inputs.by_role.get("qrels")
    grade_types = set() if qrels is None else qrels.source_types("relevance")
    types = {"threshold": inputs.score_types, "rel": grade_types}
    limits = [_round_limits(metric, types) for metric in request.metrics]
    metrics = [
        metric.with_plan({**plans, **rounded})
        for metric, rounded in zip(request.metrics, limits, strict=True)
    ]
    if is_audited and request.base_role is not None:
        cross_input_checks.check_settings_against_data(inputs, metrics, input_ctes)
    layout = replace(
        _build_layout(inputs, input_ctes), keep_unused=keep_unused, counts_undefined=is_audited
    )
    notes = [*_list_assumptions(inputs, layout), *_describe_rounding(metrics, limits)]
    if not database.can_inspect:
        notes += _unseen_width_notes(inputs)
    header = request_header(inputs, plans, notes)
    audits = _audit_queries(inputs, counts_null_ids, plans) if is_audited else {}
    counts = list_counts(inputs, audits.values()) if is_audited else []
    statement = _compile_cached(
        _CompileKey(
            request.library,
            tuple(metrics),
            input_ctes.sources,
            layout,
            header,
            audits,
            tuple(count.with_plan(plans) for count in counts),
            _column_types(inputs),
        )
    )
    return PreparedStatement(inputs, statement, plans, is_audited, report)


def _validate_inputs(
    inputs: BoundInputs, check: CheckMode, counts_null_ids: bool
) -> ValidationReport | None:
    """Check the rows before a plan is chosen by their numbers; return the outcome for rankings, but
    for what the statement checks itself.
    """
    report = (
        _validate_rankings(inputs, check, ("run",) if counts_null_ids else ())
        if inputs.request.is_ranking
        else None
    )
    bases = [] if inputs.base is None else [inputs.base]
    read_bases = [base for base in bases if not base.assembled_from]
    # Rules of its companions say nothing about ids that it repeats.
    for base in read_bases:
        _check_unique(inputs, base)
    for bound_input in inputs.side_inputs:
        row_checks.validate_rows(
            bound_input,
            inputs.needed_columns[bound_input.role.name],
            inputs.request.required_row_checks,
        )
    for bound_input in inputs.side_inputs if read_bases else [*inputs.side_inputs, *bases]:
        _check_unique(inputs, bound_input)
    return report


def _build_layout(inputs: BoundInputs, input_ctes: InputCtes) -> ResultLayout:
    """Return the layout of the result that the request asks for."""
    request = inputs.request
    base_role = request.base_role
    return ResultLayout(
        input_ctes.shape,
        request.per_query,
        weighted="weight" in inputs.needed_columns.get("queries", ()),
        with_weights=request.include_query_weights,
        requested_names=request.requested_names,
        base=base_role,
        confidence=request.confidence,
        query_column=(
            input_ctes.sources[InputKey(base_role)].query_column
            if base_role is not None
            else "query_id"
        ),
        across=tuple(
            column.name
            for column in input_ctes.shape.group_columns
            if column.requested_name in request.across
        ),
        differences=tuple(request.differences.items()),
    )


_ROUNDING_NOTES = {
    "threshold": "predictions: the threshold is rounded to 32 bits, as the scores are",
    "rel": "qrels: rel is rounded to 32 bits, as the grades are",
    "bin_score": "predictions: scores of 32 bits are rounded to 7 decimals to find their bins",
}
"""Notes on limits that take the type of scores or grades."""


def _list_assumptions(inputs: BoundInputs, layout: ResultLayout) -> list[str]:
    """Return header lines on what is taken for granted of tables that cannot be looked at."""
    notes = []
    if not inputs.database.can_inspect:
        if "queries" in inputs.needed_columns and not layout.weighted:
            notes.append(_default_column_note("queries", "weight", 1))
        notes += [*_default_column_notes(inputs), *_unseen_column_notes(inputs)]
        notes += [*describe_unseen_groups(inputs), *_unseen_type_notes(inputs)]
        notes += [*_unseen_collation_notes(inputs), *_unseen_unit_notes(inputs)]
    return notes


def prepare_audit(
    request: ResolvedRequest, database: Database
) -> tuple[StatementHeader, exp.Query]:
    """Return the statement that counts the rows of the inputs of a request by the rule that they
    break, and its header.
    """
    inputs = filter_inputs(bind_inputs(request, database))
    row = "one row per input and rule, with the number of rows that break it, 0 of valid inputs"
    unseen = (
        []
        if database.can_inspect
        else [*_default_column_notes(inputs), *_unseen_column_notes(inputs)]
    )
    header = replace(request_header(inputs, {}, unseen), row=row)
    violations = [
        query
        for role, columns in inputs.needed_columns.items()
        if role in inputs.by_role
        for query in _count_violations(inputs.by_role[role], columns, request)
    ]
    if not violations:
        names = join_words(str(metric.metric) for metric in request.metrics)
        raise MetricError(f"audit has no rule to check: {names} accepts any row. Leave it out")
    return header, union_all(violations)


def audit_text(header: StatementHeader, audit: exp.Query, dialect: str) -> str:
    """Return the text of a statement that checks rows."""
    return f"{header.format_comments(dialect)}{to_sql(audit, dialect, 'the audit', pretty=True)}"


def _round_limits(metric: ResolvedMetric, types: Mapping[str, set[str]]) -> dict[str, float]:
    """Return the settings with which scores or grades are compared, in their type if some have 32
    bits: 0.7 is a score of at least 0.7. ``types`` are those of the values, by setting.
    """
    limits: dict[str, float] = {}
    for name, kinds in types.items():
        limit = metric.settings.get(name)
        if "FLOAT" in kinds and isinstance(limit, int | float) and abs(limit) <= GREATEST_FLOAT:
            (rounded,) = struct.unpack("f", struct.pack("f", limit))
            # Scores of 64 bits beside them reach the limit as it is.
            is_needed = rounded < limit or (rounded > limit and kinds == {"FLOAT"})
            limits |= {name: rounded} if is_needed else {}
    return limits


def _describe_rounding(
    metrics: Sequence[ResolvedMetric], limits: Sequence[Mapping[str, float]]
) -> list[str]:
    """Return header lines on limits that are rounded, and on scores that are to find their bins."""
    rounded = {name for by_metric in limits for name in by_metric}
    if any(
        metric.settings.get("bin_score") == "rounded"
        and "calibration_bins" in metric.dependencies.relations
        for metric in metrics
    ):
        rounded.add("bin_score")
    return [note for name, note in _ROUNDING_NOTES.items() if name in rounded]


def _default_column_notes(inputs: BoundInputs) -> list[str]:
    """Return a header line for each uninspected column of an input that gets its default."""
    defaulted_columns = (
        (bound_input, column)
        for role, bound_input in inputs.by_role.items()
        if role in inputs.needed_columns and role != "queries"
        for column in bound_input.role.columns.values()
        if column.default is not None
        and column.name in find_read_columns(inputs.request, bound_input.role.name)
    )
    return [
        _default_column_note(bound_input.role.name, column.name, column.default)
        for bound_input, column in defaulted_columns
        if column.name not in bound_input.columns
    ]


def _unseen_column_notes(inputs: BoundInputs) -> list[str]:
    """Return a header line for each optional column that evaluation reads where a table has it: it
    tells rows of equal keys apart, or is a list in the order of another.
    """
    columns = (
        (bound_input, column)
        for role, bound_input in inputs.by_role.items()
        if role in inputs.needed_columns
        and not (bound_input.assembled_from or bound_input.is_labelled)
        for column in bound_input.role.columns.values()
        if column.optional and column.name not in bound_input.columns
    )
    return [
        _unseen_column_note(bound_input, column.name)
        for bound_input, column in columns
        if column.name in bound_input.role.unique or column.type == "list"
    ]


def _unseen_column_note(bound_input: BoundInput, column: str) -> str:
    role = bound_input.role.name
    taken, use = f"{column} is taken to be missing", "read it"
    if column in bound_input.role.unique:
        keys = " and ".join(bound_input.unique_columns)
        taken, use = f"each {keys} is taken to have one row", "merge rows that differ in it"
    return (
        f"{role}: {taken}, since the table cannot be looked at. Map {role}.{column} to a column to"
        f" {use}"
    )


def _unseen_type_notes(inputs: BoundInputs) -> list[str]:
    """Return the header line of keys that are compared with others: evaluation reads all as texts
    where one has texts, while engines may compare numbers, and order ties by them.
    """
    plain_keys = {
        role: [
            name
            for name in dict.fromkeys((*bound_input.columns, *bound_input.group_names))
            if name not in bound_input.as_text
            and bound_input.raw_expression(name) == exp.column(name)
        ]
        for role, bound_input in inputs.by_role.items()
        if role in inputs.needed_columns
    }
    compared = [
        column
        for columns in comparable_columns(inputs.by_role, plain_keys).values()
        if len({(inputs.by_role[role].table.label, name) for role, name in columns}) > 1
        for column in columns
    ]
    if not compared:
        return []
    role, name = compared[-1]
    text = to_sql(exp.cast(exp.column(name), "TEXT"), inputs.database.dialect)
    return [
        (
            "keys: compared columns are taken to have one type"
            f" ({', '.join(dict.fromkeys(name for _, name in compared))}), since the tables cannot"
            " be looked at. Map integers to text where they meet texts, such as"
            f" {role}.{name} to {text}"
        )
    ]


def _unseen_collation_notes(inputs: BoundInputs) -> list[str]:
    """Return the header line of ids that order ties, where texts have collations: evaluation orders
    texts by their bytes.
    """
    run = inputs.by_role.get("run")
    if run is None or run.assembled_from or not run.dialect.supports_collations:
        return []
    doc_id = run.raw_expression("doc_id") if "doc_id" in inputs.needed_columns["run"] else None
    if not isinstance(doc_id, exp.Column):
        return []
    name = to_sql(doc_id, inputs.database.dialect)
    return [
        (
            "run: texts that order equal scores are taken to have the collation C, since the table"
            f' cannot be looked at. If they have another, map doc_id to {name} COLLATE "C"'
        )
    ]


def _unseen_width_notes(inputs: BoundInputs) -> list[str]:
    """Return a header line for each limit that would be rounded if the values had 32 bits."""
    base, metrics = inputs.base, inputs.request.metrics
    columns = {"rel": "qrels: relevance"} if "qrels" in inputs.by_role else {}
    if base is not None and "score" in base.role.columns:
        columns["threshold"] = f"{base.role.name}: score"
    limits = {
        (name, limit)
        for metric in metrics
        for name, limit in _round_limits(metric, {key: {"FLOAT"} for key in columns}).items()
    }
    return [
        f"{columns[name]} is taken to have 64 bits, since the table cannot be looked at. If it has"
        f" 32, give {name}={limit!r}"
        for name, limit in sorted(limits)
    ]


def _unseen_unit_notes(inputs: BoundInputs) -> list[str]:
    """Return the header line of intervals whose units are rows or lists, as nothing says
    otherwise.
    """
    base = inputs.base
    if inputs.request.confidence is None or base is None or not base.role.unit_column:
        return []
    role, unit = base.role, base.columns.get(base.role.unit_column or "")
    is_default = unit is None or unit is base.columns.get(role.query_column or "")
    if not is_default or inputs.rows_are_units or inputs.request.any_metric_with("level", "query"):
        return []
    default = "row" if unit is None else role.query_column
    return [
        (
            f"{role.name}: every {default} is a unit of intervals, since the table cannot be looked"
            f" at. Map {role.name}.{role.unit_column} to the column of other units"
        )
    ]


def _default_column_note(role: str, column: str, default: float | None) -> str:
    return (
        f"{role}: {column} is taken to be {default:g}, since the table cannot be looked at. Map"
        f" {role}.{column} to a column to read it"
    )


def _column_types(inputs: BoundInputs) -> tuple[str, ...]:
    return tuple(
        inputs.by_role[role].column_type(name)
        for role, names in inputs.needed_columns.items()
        for name in names
    )


class _CompileKey:
    """Cache key of compiled statements: the arguments of the compiler."""

    def __init__(
        self,
        library: Registry,
        metrics: tuple[ResolvedMetric, ...],
        sources: Any,
        layout: ResultLayout,
        header: StatementHeader,
        audits: Any,
        counts: tuple[ResolvedMetric, ...],
        types: tuple[str, ...],
    ) -> None:
        self.key = (metrics, library, sources, layout, header, audits, counts)
        metric_settings = tuple(
            (metric.metric, metric.column_names, frozenset(metric.settings.items()))
            for metric in (*metrics, *counts)
        )
        # Trees compare equal regardless of column types, which determine the casts that are
        # written.
        self._key = (
            library,
            metric_settings,
            len(counts),
            tuple(sources.items()),
            repr(layout),
            header,
            tuple(audits.items()),
            types,
        )

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CompileKey) and self._key == other._key


@lru_cache(maxsize=64)
def _compile_cached(compile_key: _CompileKey) -> CompiledStatement:
    return compile_statement(*compile_key.key)


@lru_cache(maxsize=64)
def _render_cached(
    statement: CompiledStatement,
    tables: tuple[tuple[exp.Expr, exp.Expr], ...],
    dialect: str,
    can_materialize: bool,
) -> RenderedStatement:
    return render_over_tables(statement.tree, statement.header, dialect, can_materialize, tables)


def _audit_queries(
    inputs: BoundInputs, counts_null_ids: bool, plans: Mapping[str, ParameterValue]
) -> dict[str, exp.Select]:
    """Return the audit columns by role."""
    audits = (
        {"run": cross_input_checks.load_audit(counts_null_ids)}
        if inputs.request.is_ranking and _joins_qrels(inputs)
        else {}
    )
    audits |= load_answered_lists(inputs.request, str(plans["rank_method"]))
    audits |= load_notes(inputs.request) | load_sample_sizes(inputs)
    if inputs.base is not None:
        role = inputs.base.role.name
        noted = (
            audits[role].selects[2:] if role in audits else []
        )  # beside a key and the number of rows
        audits[role] = _invalid_row_audit(inputs, inputs.base).select(*noted, copy=False)
    return audits


def _joins_qrels(inputs: BoundInputs) -> bool:
    """Return True if the statement joins run and judgments by list.

    Its result then reveals problems of both.
    """
    return "qrels" in inputs.by_role and inputs.request.metrics[0].file.kind != "curves"


def _can_count_null_ids(inputs: BoundInputs) -> bool:
    """Return True if the statement can count the NULLs in lists of documents, in place of a check
    that reads all lists.

    It then reads every list, and nothing of a document but its id.
    """
    return (
        inputs.request.is_ranking
        and _joins_qrels(inputs)
        and is_rank_method_allowed(inputs.request, "list_position")
        and inputs.request.assembled_roles.get("run") == "answers"
        and "queries" not in inputs.by_role
        and inputs.request.shared_policies.get("queries") == "given"
        and {*inputs.needed_columns["run"]} <= {"query_id", "doc_id", "rank"}
    )


def _invalid_row_audit(inputs: BoundInputs, base_input: BoundInput) -> exp.Select:
    """Return the audit columns that count invalid rows and all rows."""
    keys = {
        name for name, column in base_input.role.columns.items() if column.type in {"key", "any"}
    }
    # No types of numbers: score columns are checked in turn and may have different types.
    rules = row_rules(
        base_input.role,
        base_input.checks,
        inputs.needed_columns[base_input.role.name],
        inputs.request.required_row_checks,
        lambda name: base_input.column_type(name) if name in keys else "",
    )
    counts = [
        rules.num_invalid.as_(AUDIT_INVALID_ROWS, copy=False),
        count_rows().as_(AUDIT_ALL_ROWS, copy=False),
        *count_rows_left_out(inputs.request),
    ]
    return exp.select(exp.column(GROUP_ID), *counts, copy=False).from_(
        exp.table_(base_input.role.name), copy=False
    )


def _check_unique(inputs: BoundInputs, bound_input: BoundInput) -> None:
    """Check the uniqueness of rows that the role of an input demands, within the groups of each
    grouping.
    """
    groupings = [bound_input.group_names]
    if (
        inputs.request.grouping_sets is not None
        and bound_input.role.name in inputs.request.base_roles
    ):
        requested = [
            {column.name for column in inputs.group_columns if column.requested_name in names}
            for names in inputs.request.grouping_sets
        ]
        unique_names = {
            tuple(name for name in bound_input.group_names if name in names) for names in requested
        }
        # Rows that are unique in a group are so in its parts.
        groupings = sorted(
            grouping
            for grouping in unique_names
            if not any({*other} < {*grouping} for other in unique_names)
        )
    for grouping in groupings:
        grouped = replace(bound_input, group_names=grouping)
        if bound_input.role.unique and ROW_NUMBER not in bound_input.columns.values():
            row_checks.check_unique(grouped, bound_input.unique_columns)
        if "rank" in inputs.needed_columns[bound_input.role.name]:
            row_checks.check_unique(grouped, ("rank",))


def _validate_rankings(
    inputs: BoundInputs, check: CheckMode, deferred: tuple[str, ...]
) -> ValidationReport:
    """Check the rankings before the statement runs, but for those that it checks itself."""
    database, by_role = inputs.database, inputs.by_role
    needed = {
        role: names
        for role, names in inputs.needed_columns.items()
        if by_role[role].role.list_relation is not None
    }
    deduplicated_roles = {role for role in needed if inputs.request.merges_rows(role)}
    report = row_checks.validate_ranking_rows(
        by_role,
        needed,
        check if _joins_qrels(inputs) else "full",
        deduplicated_roles,
        deferred,
    )
    policy = inputs.request.shared_policies.get("queries", "judged")
    evaluated_roles = {
        "retrieved": ["run"],
        "clicked": ["clicks"],
        "judged_and_retrieved": ["run", "qrels"],
    }.get(str(policy), ["qrels"])
    cross_input_checks.check_queries_present(
        by_role, [role for role in evaluated_roles if role in by_role]
    )
    if policy == "strict":
        cross_input_checks.check_same_queries(by_role)
    if inputs.request.any_metric_with("ties", "error"):
        cross_input_checks.check_no_ties(by_role["run"])
    ranked_roles = [
        role
        for role, columns in needed.items()
        if "rank" in columns
        and "score" in by_role[role].role.columns
        and not by_role[role].assembled_from
    ]
    if not inputs.request.any_metric_with(
        "ties", "rank"
    ):  # ranks among equal scores, which may have gaps
        for role in (role for role in ranked_roles if role not in deduplicated_roles):
            row_checks.check_unique(by_role[role], ("query_id", "score", "rank"))
        ranked_roles = []
    for role in ranked_roles:
        cross_input_checks.check_ranks(
            by_role[role],
            has_gaps=role == "run" and inputs.request.any_metric_with("ranks", "given"),
            can_have_gaps=role == "run" and "baseline" not in needed,
            is_deduplicated=role in deduplicated_roles,
        )
    cross_input_checks.check_probabilities(
        database, inputs.request.library, inputs.request.metrics, report.top_grade
    )
    return report


def request_header(
    inputs: BoundInputs, plans: Mapping[str, Any], notes: Sequence[str]
) -> StatementHeader:
    """Return the header of a request's statement."""
    call = inputs.request.call
    requested_names = [*inputs.request.differences] or [
        name for metric in inputs.request.metrics for name in metric.requested_names
    ]
    command = (
        None
        if call.command is None
        else request_command(call.command, requested_names, call, inputs.database.dialect)
    )
    return StatementHeader(
        ", ".join(
            inputs.request.differences or [str(metric.metric) for metric in inputs.request.metrics]
        ),
        reads=tuple(describe_sources(_read_sources(inputs.request))),
        settings=tuple(_iterate_settings(inputs)),
        time_zone=find_time_zone(inputs.by_role.values(), inputs.database),
        plan=plan_summary(inputs.request, plans),
        notes=tuple(notes),
        command=command,
    )


def _read_sources(request: ResolvedRequest) -> dict[str, Any]:
    """Return the sources that the statement reads: rankings that are derived from predictions are
    these.
    """
    sources = {role: source for role, source in request.sources.items() if source is not None}
    if not request.rankings_from_predictions:
        return sources
    predictions = sources.get("predictions", sources.get("run"))
    return {"predictions": predictions} | {
        role: source
        for role, source in sources.items()
        if role not in {"run", "qrels", "predictions"}
    }


def _iterate_settings(inputs: BoundInputs) -> Iterator[str]:
    """Yield the settings that decide numbers and are not the defaults."""
    call = inputs.request.call
    if call.compat is not None:
        implied = ", ".join(_compat_settings(inputs.request))
        yield f"compat={call.compat} ({implied})" if implied else f"compat={call.compat}"
    queries = call.sources.get("queries")
    yield from (
        [f"queries={queries}"]
        if isinstance(queries, str) and queries in inputs.request.library.allowed_values("queries")
        else []
    )
    role = inputs.request.base_role if inputs.request.base_role is not None else "queries"
    if "weight" in inputs.needed_columns.get(role, ()) and "weight" in inputs.by_role[role].columns:
        yield f"weight={inputs.by_role[role].columns['weight']}"
    yield from (
        f"{name}={expression}" for name, expression in inputs.request.group_expressions.items()
    )
    yield from [f"across={', '.join(inputs.request.across)}"] if inputs.request.across else []
    yield from call_settings(call)
    if (confidence := inputs.request.confidence) is not None:
        yield f"confidence={confidence.level:g}"
        yield from [f"interval={confidence.method}"] if confidence.method != "auto" else []
        yield from [f"unit={confidence.unit}"] if confidence.unit is not None else []
        yield from (
            [f"replicates={confidence.replicates}", f"seed={confidence.seed}"]
            if confidence.is_bootstrap
            else []
        )


def _compat_settings(request: ResolvedRequest) -> list[str]:
    """Return the settings of a compatibility mode for these metrics."""
    mode = load_compat_mode(request.call.compat, request.library)
    policy_names = request.call.policies.keys()
    read = {
        name for metric in request.metrics for name in metric.settings
    } | request.shared_policies.keys()
    settings = [
        f"{name}={value}"
        for name, value in mode.get("defaults", {}).items()
        if name in read and name not in policy_names
    ]
    for metric in request.metrics:
        settings += [
            f"{name}={value} of {metric.metric.name}"
            for name, value in mode.get("metrics", {}).get(metric.metric.name, {}).items()
            if metric.settings.get(name) == value
        ]
    return list(dict.fromkeys(settings))


def _count_violations(
    bound_input: BoundInput, columns: Sequence[str], request: ResolvedRequest
) -> Iterator[exp.Select]:
    """Yield a query of one row for each rule of an input, and for its keys."""
    role = bound_input.role
    rows = bound_input.select_columns(
        columns, for_display=True, keep_types=bound_input.database.can_inspect
    )
    rules = row_rules(
        role, bound_input.checks, columns, request.required_row_checks, bound_input.column_type
    )
    for name, condition in rules.conditions.items():
        yield (
            _select_count(role.name, rules.meanings[name])
            .from_(rows.subquery(role.name))
            .where(condition.copy())
        )
    if (
        role.unique
        and not request.merges_rows(role.name)
        and {*bound_input.unique_columns} <= {*columns}
    ):
        keys = [
            *map(quoted_column, bound_input.group_names),
            *map(exp.column, bound_input.unique_columns),
        ]
        repeated = (
            exp.select(*keys).from_(rows.subquery(role.name)).group_by(*keys).having("COUNT(*) > 1")
        )
        names = ", ".join(key.name for key in keys)
        yield _select_count(
            role.name, role.duplicate_message or f"({names}) occurs more than once"
        ).from_(repeated.subquery("repeated"))


def _select_count(role: str, problem: str) -> exp.Select:
    """Return a query that counts rows beside the name of an input and the rule that they break."""
    return exp.select(
        sql_literal(role).as_("input"),
        sql_literal(problem).as_("problem"),
        count_rows().as_("num_rows"),
    )
