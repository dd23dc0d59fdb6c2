"""Parse SQL files, and check their syntax against the contract: portable SQL without divisions by
0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.errors import ContractError
from sqlrank.registry.sql_folder import strip_header_comment
from sqlrank.rendering.dialects import DIALECTS
from sqlrank.sql_ast import find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path


NEVER_ZERO = "Nonzero"
"""Annotation of denominators that are never 0: ``-- Nonzero: hit, $k - 1.``"""

ONE_BASED_COLUMN = "rank"


def unguarded_divisors(
    tree: exp.Expr, above_zero: Collection[str], declared: str = ""
) -> Iterator[tuple[exp.Expr, str]]:
    """Yield each denominator that may be 0, with a fix, and each unused declaration.

    Args:
        tree: The SQL of the file.
        above_zero: Names of parameters that are always positive.
        declared: The expressions that the file declares under ``NEVER_ZERO``, separated by commas.
    """
    try:
        expressions = (
            sqlglot.parse_one(f"SELECT {declared}", read="duckdb").expressions if declared else []
        )
    except sqlglot.ParseError:
        yield (
            tree,
            (
                f"'-- {NEVER_ZERO}: {declared}.' cannot be read. Write denominators as they stand"
                " in the file, between commas"
            ),
        )
        return
    never_zero = {_normalized_sql(expression) for expression in expressions}
    used: set[str] = set()
    for division in tree.find_all(exp.Div):
        denominator = division.expression.unnest()
        used |= (
            {_normalized_sql(node) for node in denominator.walk()} & never_zero
            if never_zero
            else set()
        )
        if not is_never_zero(denominator, above_zero, never_zero):
            text = _normalized_sql(denominator)
            yield (
                division.expression,
                (
                    f"{text} may be 0: write / NULLIF({text}, 0), or '-- {NEVER_ZERO}: {text}.' if"
                    " it cannot be"
                ),
            )
    for unused in sorted(never_zero - used):
        yield tree, f"{unused} is declared to be never 0, but nothing is divided by it"


def is_never_zero(node: exp.Expr, above_zero: Collection[str], declared: Collection[str]) -> bool:
    """Return True if an expression cannot be 0, by form, range or declaration.

    Expressions that are NULL instead of 0 count as well.
    """
    node = node.unnest()
    if declared and _normalized_sql(node) in declared:
        return True
    if isinstance(node, exp.Literal):
        return node.is_number and float(node.this) != 0
    if isinstance(node, exp.Nullif):
        return bool(node.expression == sql_literal(0))
    if isinstance(node, exp.Placeholder):
        return node.name in above_zero
    if isinstance(node, exp.Column):
        return bool(node.name == ONE_BASED_COLUMN)
    if isinstance(node, exp.Mul):
        return is_never_zero(node.this, above_zero, declared) and is_never_zero(
            node.expression, above_zero, declared
        )
    if isinstance(node, exp.Ln):
        return isinstance(node.this, exp.Literal) and float(node.this.this) not in {0, 1}
    return isinstance(node, exp.Exp) or (
        isinstance(node, exp.Sqrt) and is_never_zero(node.this, above_zero, declared)
    )


def _normalized_sql(node: Any) -> str:
    """Render an expression as text that does not depend on its layout."""
    return str(node.unnest().sql("duckdb", normalize_functions=False, comments=False))


GRAIN_KEYS = {"list_id", "group_id"}
"""Keys that identify the rows of a metric: a list, or a group of lists."""

PORTABLE_NODES = (
    exp.Abs, exp.Add, exp.Alias, exp.And, exp.Avg, exp.Case, exp.Cast, exp.Coalesce, exp.Column,
    exp.Count, exp.CumeDist, exp.DataType, exp.DenseRank, exp.Div, exp.EQ, exp.Exp, exp.Floor,
    exp.From, exp.GT, exp.GTE, exp.Group, exp.Identifier, exp.If, exp.In, exp.Is, exp.Join, exp.Lag,
    exp.LT, exp.LTE, exp.Lead, exp.Literal, exp.Ln, exp.Max, exp.Min, exp.Mul, exp.NEQ, exp.Neg,
    exp.Not, exp.Null, exp.Nullif, exp.Or, exp.Order, exp.Ordered, exp.Paren, exp.PercentileCont,
    exp.Placeholder, exp.Rank, exp.RowNumber, exp.Select, exp.Sqrt, exp.Star, exp.Sub, exp.Subquery,
    exp.Sum, exp.Table, exp.TableAlias, exp.Union, exp.Where, exp.Window, exp.WindowSpec,
)  # fmt: skip
"""Syntax nodes with the same meaning on every engine."""

PORTABLE_ALTERNATIVES = {
    exp.Filter: "write SUM(CASE WHEN condition THEN x ELSE 0 END)",
    exp.Qualify: "write a subquery with WHERE",
    exp.Log: "bases differ between engines. Write LN, and divide by LN(2) for log2",
    exp.LogProperty: "bases differ between engines. Write LN, and divide by LN(2) for log2",
    exp.Pow: "write EXP(b * LN(a)), guarded against overflow",
    exp.Greatest: "NULL rules differ. Write CASE",
    exp.Least: "NULL rules differ. Write CASE",
    exp.AnyValue: "write MAX(x)",
    exp.Median: "write QUANTILE_CONT(x, 0.5)",
    exp.Mod: "write MOD in a function file of a dialect, or avoid it",
    exp.IntDiv: "write FLOOR(a / b)",
    exp.Distinct: "write GROUP BY",
    exp.Unnest: (
        "a series of integers is UNNEST(GENERATE_SERIES(1, 20)) AS series(number), and the elements"
        " of a list are CROSS JOIN UNNEST(answers.retrieved) WITH ORDINALITY AS elements(element,"
        " list_position)"
    ),
    exp.GenerateSeries: "a series of integers is UNNEST(GENERATE_SERIES(1, 20)) AS series(number)",
    exp.Round: "halves are rounded differently. Write FLOOR(x + 0.5)",
}
"""Portable alternatives to common constructs that differ between engines."""

_METRIC_CLAUSES = {
    "where": "WHERE",
    "having": "HAVING",
    "order": "ORDER BY",
    "distinct": "DISTINCT",
    "limit": "LIMIT",
    "with_": "CTE",
    "joins": "JOIN",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
}


MAX_FILE_CHARACTERS = 50_000
"""Maximum length of a file; deeply nested longer files take seconds to parse."""

Violation = tuple["exp.Expr | str", str]
"""A violation: its location (a node or a word) and the violated rule."""


def parse_sql_file(kind: str, path: Path, text: str) -> Any:
    """Parse a SQL file.

    Raises:
        ContractError: The file is too long, not SQL, or not a single statement; the message has
            file and line.
    """
    if len(text) > MAX_FILE_CHARACTERS:
        raise ContractError(
            f"{path}:1: the file has {len(text)} characters, of which one may have"
            f" {MAX_FILE_CHARACTERS}. Write several"
        )
    try:
        tree = sqlglot.parse_one(strip_header_comment(text), read="duckdb")
    except sqlglot.ParseError as error:
        if not error.errors:
            expected = {
                "metrics": "a metric is one SELECT",
                "relations": "a relation is one SELECT or UNION ALL",
            }.get(kind, "a function file is one CREATE MACRO")
            raise ContractError(f"{path}:1: {expected}") from None
        detail = error.errors[0]
        raise ContractError(f"{path}:{detail['line']}: not SQL: {detail['description']}") from None
    _expand_stars(tree)
    return tree


def _expand_stars(tree: exp.Expr) -> None:
    """Replace ``source.*`` in subqueries by the columns that the query around reads, in place.

    >>> tree = sqlglot.parse_one("SELECT a FROM (SELECT t.*, 1 AS b FROM t) AS s WHERE a < b + c")
    >>> _expand_stars(tree), tree.sql()
    (None, 'SELECT a FROM (SELECT a, c, 1 AS b FROM t) AS s WHERE a < b + c')
    """
    for star in find_nodes(tree, exp.Star):  # those of outer queries first, which read inner ones
        column: Any = star.parent
        subquery: Any = column.find_ancestor(exp.Subquery)
        if isinstance(column, exp.Column) and subquery is not None:
            around: Any = subquery.parent_select
            select: Any = column.parent_select
            names = dict.fromkeys(
                read.name
                for read in find_nodes(around, exp.Column)
                if read.parent_select is around and read.table in {"", subquery.alias}
            )
            table = column.table if select.args.get("joins") else None
            own = select.named_selects
            column.replace([exp.column(name, table) for name in names if name not in own])


def check_syntax_rules(
    kind: str, path: Path, text: str, tree: exp.Expr, declared: Mapping[str, bool]
) -> None:
    """Check a file against the contract, and report every violation with file, line and rule."""
    violations: list[Violation] = []
    if kind == "metrics":
        violations += _check_metric(tree)
        if not re.match(r"-- \w+(@k| of \w+)?: ", text):
            violations.append(
                (
                    _FIRST,
                    (
                        "the comment begins with the name of the metric, one word, as in '-- nDCG:"
                        " what it is.'"
                    ),
                )
            )
    elif kind in {"relations", "curves"}:
        violations += _check_relation(tree)
        if (
            kind == "curves"
            and isinstance(tree, exp.Query)
            and (len(tree.selects) < 2 or not _is_curve(tree))  # noqa: PLR2004
        ):
            violations.append(
                (
                    "SELECT",
                    (
                        "a curve selects group_id, then point, which numbers its rows, then what it"
                        " shows"
                    ),
                )
            )
    else:
        violations += _check_function(tree, path.parent.name)
    violations += _find_open_brackets(text)
    if match := re.search(r"NULLS\s+(FIRST|LAST)", text, re.IGNORECASE):
        violations.append(
            (
                match[0],
                (
                    f"{match[0]} is dropped when a statement is written: sort by something that is"
                    " never NULL"
                ),
            )
        )
    engine = re.search(r"^-- Engines: (\w+)", text, re.MULTILINE)
    extra = DIALECTS[engine[1]].file_nodes if engine and engine[1] in DIALECTS else ()
    violations += [*_check_portability(tree, extra), *_check_parameters(tree, declared)]
    never_zero = re.search(rf"^-- {NEVER_ZERO}: (.+?)\.?$", text, re.MULTILINE)
    above_zero = [name for name, is_above in declared.items() if is_above]
    raise_violations(
        path,
        text,
        [*violations, *unguarded_divisors(tree, above_zero, never_zero[1] if never_zero else "")],
    )


def _find_open_brackets(text: str) -> Iterator[Violation]:
    """Yield a violation for unbalanced brackets, some of which the parser closes silently."""
    token_types = [
        token.token_type for token in sqlglot.tokenize(strip_header_comment(text), read="duckdb")
    ]
    surplus = token_types.count(sqlglot.TokenType.L_PAREN) - token_types.count(
        sqlglot.TokenType.R_PAREN
    )
    if surplus:
        yield (
            "(" if surplus > 0 else ")",
            (
                f"{abs(surplus)} more '{'(' if surplus > 0 else ')'}' than"
                f" '{')' if surplus > 0 else '('}'. Close each bracket"
            ),
        )


def _is_curve(tree: exp.Query) -> bool:
    return tree.named_selects[:2] == ["group_id", "point"]


def raise_violations(path: Path, text: str, violations: list[Violation]) -> None:
    """Raise ``ContractError`` if there are violations."""
    if violations:
        raise ContractError(
            *(f"{path}:{find_line(text, location)}: {rule}" for location, rule in violations)
        )


def _check_portability(tree: exp.Expr, extra: tuple[type[exp.Expr], ...]) -> Iterator[Violation]:
    skip = (
        (exp.Create, exp.UserDefinedFunction, exp.Properties)
        if isinstance(tree, exp.Create)
        else ()
    )
    for node in tree.walk():
        if (
            isinstance(node, (exp.Anonymous, *PORTABLE_NODES, *skip, *extra))
            or _is_number_series(node)
            or _is_list_access(node)
        ):
            continue
        advice = next(
            (
                text
                for node_type, text in PORTABLE_ALTERNATIVES.items()
                if isinstance(node, node_type)
            ),
            "not known to mean the same on every engine",
        )
        yield node, f"{type(node).__name__.removesuffix('Property')} is not allowed: {advice}"
    for window in tree.find_all(exp.Window):
        if window.args.get("alias"):
            yield "WINDOW", "named windows are not allowed: write the window inline"
    for select in tree.find_all(exp.Select):
        yield from _shadowed_group_keys(select)
        yield from _unnamed_keys(select)
        yield from _check_sources(select)
    for union in tree.find_all(exp.Union):
        if union.args.get("distinct"):
            yield "UNION", "UNION is not allowed: write UNION ALL"
    for join in tree.find_all(exp.Join):
        yield from _join_condition(join)


def _join_condition(join: exp.Join) -> Iterator[Violation]:
    if join.args.get("using"):
        yield "USING", "USING is not allowed: write ON"
    if word := join.method or (join.kind if join.kind in {"SEMI", "ANTI"} else ""):
        yield word, f"{word} JOIN is not allowed: write INNER JOIN or LEFT JOIN, and ON"


def _unnamed_keys(select: exp.Select) -> Iterator[Violation]:
    """Yield keys that are positions, or computed to be: columns of the user and of statements move
    them.
    """
    group, order = select.args.get("group", exp.Group()), select.args.get("order", exp.Order())
    if group.args.get("all") or any(isinstance(term, exp.Literal) for term in group.expressions):
        yield "GROUP BY", "GROUP BY ALL and positions are not allowed: name the columns"
    if not all(
        isinstance(term, exp.Ordered) and isinstance(term.this, exp.Column)
        for term in order.expressions
    ):
        yield "ORDER BY", "the rows of a query are sorted by columns: name them"


def _check_sources(select: exp.Select) -> Iterator[Violation]:
    """Yield renamed columns of sources, and subqueries that read other items of the same FROM."""
    sources = [
        clause.this
        for clause in (select.args.get("from_"), *(select.args.get("joins") or []))
        if clause is not None
    ]
    for source in sources:
        if source.alias_column_names and not isinstance(source, exp.Unnest):
            yield (
                source,
                (
                    f"{source.alias}({', '.join(source.alias_column_names)}) is not allowed: name"
                    " the columns in the SELECT"
                ),
            )
        inner = (
            {node.alias_or_name for node in source.find_all(exp.Table, exp.Subquery, exp.Unnest)}
            if isinstance(source, exp.Subquery)
            else set()
        )
        for column in source.find_all(exp.Column) if inner else ():
            if column.table and column.table not in inner:
                yield (
                    column,
                    (
                        f"a subquery of FROM cannot read {column.table}, which is next to it in"
                        " FROM: write a join"
                    ),
                )


def _is_number_series(node: exp.Expr) -> bool:
    """Return True for ``UNNEST(GENERATE_SERIES(...)) AS series(number)`` and the call in it."""
    series = node.parent if isinstance(node, exp.GenerateSeries) else node
    if (
        not isinstance(series, exp.Unnest)
        or series.alias != "series"
        or series.alias_column_names != ["number"]
    ):
        return False
    generated = series.expressions
    return (
        len(generated) == 1
        and isinstance(generated[0], exp.GenerateSeries)
        and not generated[0].args.get("step")
    )


def _is_list_access(node: exp.Expr) -> bool:
    """Return True for the cross join of a list column WITH ORDINALITY, and for the element of a
    list column at the position of a column.
    """
    if isinstance(node, exp.Bracket):
        return (
            isinstance(node.this, exp.Column)
            and len(node.expressions) == 1
            and isinstance(node.expressions[0], exp.Column)
        )
    is_joined = (
        isinstance(node, exp.Unnest)
        and isinstance(node.parent, exp.Join)
        and node.parent.kind == "CROSS"
    )
    return (
        is_joined
        and isinstance(node.args.get("offset"), exp.Identifier)
        and all(isinstance(item, exp.Column) for item in node.expressions)
    )


def _shadowed_group_keys(select: exp.Select) -> Iterator[Violation]:
    """Yield aliases that shadow a GROUP BY key, because engines resolve these names differently."""
    keys = {key.name for key in select.args.get("group", exp.Group()).expressions}
    for select_item in select.expressions:
        if (
            isinstance(select_item, exp.Alias)
            and select_item.alias in keys
            and select_item.alias != select_item.this.name
        ):
            yield (
                select_item,
                (
                    f"{select_item.alias} is grouped by and the name of something else: choose"
                    " another name"
                ),
            )


def _check_parameters(tree: exp.Expr, declared: Mapping[str, bool]) -> Iterator[Violation]:
    used = {node.name: node for node in tree.find_all(exp.Placeholder)}
    for name in sorted(declared.keys() - used.keys()):
        yield f"${name}", f"${name} is documented, but not used"
    for name in sorted(used.keys() - declared.keys()):
        yield (
            f"${name}" if name != "?" else name,
            (
                f"${name} is used, but not documented. Add a line '-- ${name}: number, default ...:"
                " what it is.'"
            ),
        )


def _check_function(tree: exp.Expr, slot: str) -> Iterator[Violation]:
    if (
        not isinstance(tree, exp.Create)
        or tree.args.get("kind") != "MACRO"
        or isinstance(tree.expression, exp.Query)
    ):
        subject = (
            "A function has no subquery: it" if isinstance(tree, exp.Create) else "A function file"
        )
        yield (
            "CREATE",
            (
                f"a function file is one CREATE MACRO name(arguments) AS expression. {subject}"
                " holds no SELECT"
            ),
        )
    elif tree.this.this.name != slot:
        yield "CREATE", f"the macro is named after its folder, {slot!r}"
    elif tree.expression.find(exp.Query):
        yield "CREATE", "a function has no subquery"


def _check_metric(tree: exp.Expr) -> Iterator[Violation]:  # noqa: C901  one rule after another
    if not isinstance(tree, exp.Select):
        yield "", "a metric is one SELECT"
        return
    for clause, name in _METRIC_CLAUSES.items():
        if match := tree.args.get(clause):
            yield (
                match[0] if clause == "joins" else name,
                f"a metric has no {name}. That belongs in a relation",
            )
    if match := tree.find(exp.Window, exp.Subquery):
        yield (
            "OVER" if isinstance(match, exp.Window) else match,
            "a metric has no window and no subquery. They belong in a relation",
        )
    source = tree.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table) or source.this.args.get("alias"):
        yield "FROM", "a metric reads exactly one relation, without an alias"
    for column in tree.find_all(exp.Column):
        if (
            column.parent_select is tree
            and column.name not in GRAIN_KEYS
            and not column.find_ancestor(exp.AggFunc, exp.Anonymous)
        ):
            yield column, f"{column.name} is outside an aggregate"
    keys = [column.name for column in tree.selects[:-1]]
    if any(isinstance(column, exp.Star) for column in tree.selects):
        yield "*", "a metric lists its columns"
    elif (
        len(keys) != 1
        or not GRAIN_KEYS.issuperset(keys)
        or not isinstance(tree.selects[-1], exp.Alias)
    ):
        yield (
            "SELECT",
            "a metric selects list_id or group_id and then one aggregate expression with an alias",
        )
    group = tree.args.get("group")
    if group is None or [column.name for column in group.expressions] != keys:
        yield "GROUP", "a metric is grouped by exactly its key, list_id or group_id"
    if not tree.selects[-1].find(exp.AggFunc, exp.Anonymous):
        yield "SELECT", "the last column of a metric is an aggregate"


def _check_relation(tree: exp.Expr) -> Iterator[Violation]:
    if not isinstance(tree, exp.Query):
        yield "", "a relation is one SELECT or UNION ALL"
        return
    for star in tree.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            yield "*", "a relation lists its columns"
    if not tree.find(exp.From) and {"list_id", "group_id"} & {*tree.named_selects}:
        yield "SELECT", "a relation with rows for lists or groups has a FROM"
    if tree.find(exp.CTE):
        yield "WITH", "a relation has no CTE. Make it a relation of its own"


_FIRST = "--"


def find_line(text: str, location: exp.Expr | str) -> int:
    """Return the line of a node, or of the first occurrence of a word."""
    lines = list(enumerate(text.splitlines(), start=1))
    code = [(line_number, line) for line_number, line in lines if not line.startswith("--")]
    if isinstance(location, exp.Expr):
        line_numbers = [node.meta["line"] for node in location.walk() if "line" in node.meta]
        if line_numbers:
            return int(min(line_numbers))
        location = location.sql("duckdb").split("(")[0].split(" ")[0]
    searched_lines = lines if location.startswith(("$", "--")) else code
    return next(
        (line_number for line_number, line in searched_lines if location.lower() in line.lower()),
        code[0][0] if code else 1,
    )
