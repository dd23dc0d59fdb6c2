"""The contract of the SQL files: what a file may hold, so that it can be fused, pasted and run on every engine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.errors import ContractError
from sqlrank.library.denominators import FACT, unguarded
from sqlrank.library.folder import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KEYS = {"list_id", "group_id"}
"""What tells rows of a metric apart: a list, or a group of lists."""

ALLOWED = (
    exp.Abs, exp.Add, exp.Alias, exp.And, exp.Avg, exp.Case, exp.Cast, exp.Coalesce, exp.Column, exp.Count, exp.CumeDist, exp.DataType, exp.DenseRank, exp.Div,
    exp.EQ, exp.Exp, exp.Floor, exp.From, exp.GT, exp.GTE, exp.Group, exp.Identifier, exp.If, exp.In, exp.Is, exp.Join, exp.Lag,
    exp.LT, exp.LTE, exp.Lead, exp.Literal, exp.Ln, exp.Max, exp.Min, exp.Mul, exp.NEQ, exp.Neg, exp.Not, exp.Null,
    exp.Nullif, exp.Or, exp.Order, exp.Ordered, exp.Paren, exp.Placeholder, exp.Rank, exp.RowNumber, exp.Select, exp.Sqrt, exp.Star,
    exp.Sub, exp.Subquery, exp.Sum, exp.Table, exp.TableAlias, exp.Union, exp.Where, exp.Window, exp.WindowSpec,
)  # fmt: skip
"""Nodes that mean the same on every engine."""

PORTABLE_FORM = {
    exp.Filter: "write SUM(CASE WHEN condition THEN x ELSE 0 END)",
    exp.Qualify: "write a subquery with WHERE",
    exp.Log: "bases differ between engines; write LN, and divide by LN(2) for log2",
    exp.LogProperty: "bases differ between engines; write LN, and divide by LN(2) for log2",
    exp.Pow: "write EXP(b * LN(a)), guarded against overflow",
    exp.Greatest: "NULL rules differ; write CASE",
    exp.Least: "NULL rules differ; write CASE",
    exp.AnyValue: "write MAX(x)",
    exp.Median: "number the rows and interpolate",
    exp.PercentileCont: "number the rows and interpolate",
    exp.Mod: "write MOD in a function file of a dialect, or avoid it",
    exp.IntDiv: "write FLOOR(a / b)",
    exp.Distinct: "write GROUP BY",
    exp.Round: "halves are rounded differently; write FLOOR(x + 0.5)",
}
"""What to write instead of common constructs that do not mean the same everywhere."""

OF_ENGINES = {
    "duckdb": (exp.ArrayAgg, exp.ArrayMin, exp.ArrayPosition, exp.PercentileCont, exp.LastValue, exp.IgnoreNulls, exp.Mod, exp.NullSafeEQ)
}
"""What a file may hold, too, that declares an engine: ``-- Engine: duckdb``."""

_METRIC_CLAUSES = {"where": "WHERE", "having": "HAVING", "order": "ORDER BY", "distinct": "DISTINCT", "limit": "LIMIT",
                   "with_": "CTE", "joins": "JOIN", "qualify": "QUALIFY", "windows": "WINDOW"}  # fmt: skip


Breach = tuple["exp.Expr | str", str]
"""Where a rule is broken (a node, or a word to look for) and the rule."""


def read_tree(kind: str, path: Path, text: str) -> Any:
    """Return the tree of a file; raise ``ContractError`` with file and line for what is not SQL, or not one statement."""
    try:
        return sqlglot.parse_one(code_of(text), read="duckdb")
    except sqlglot.ParseError as error:
        if not error.errors:
            what = {"metrics": "a metric is one SELECT", "relations": "a relation is one SELECT or UNION ALL"}.get(
                kind, "a function file is one CREATE MACRO"
            )
            raise ContractError(f"{path}:1: {what}") from None
        detail = error.errors[0]
        raise ContractError(f"{path}:{detail['line']}: not SQL: {detail['description']}") from None


def check(kind: str, path: Path, text: str, tree: exp.Expr, declared: Mapping[str, bool]) -> None:
    """Raise ``ContractError`` with file, line and rule for each breach in a file."""
    breaches: list[Breach] = []
    if kind == "metrics":
        breaches += _metric(tree)
        if not re.match(r"-- \w+(@k)?: ", text):
            breaches.append((_FIRST, "the comment begins with the name of the metric, one word, as in '-- nDCG: what it is.'"))
    elif kind in {"relations", "curves"}:
        breaches += _relation(tree)
        if kind == "curves" and isinstance(tree, exp.Query) and (len(tree.selects) < 2 or not _is_curve(tree)):  # noqa: PLR2004
            breaches.append(("SELECT", "a curve selects group_id, then point, which numbers its rows, then what it shows"))
    else:
        breaches += _function(tree, path.parent.name)
    if match := re.search(r"NULLS\s+(FIRST|LAST)", text, re.IGNORECASE):
        breaches.append((match[0], f"{match[0]} is dropped when a statement is written: sort by something that is never NULL"))
    engine = re.search(r"^-- Engine: (\w+)", text, re.MULTILINE)
    extra = OF_ENGINES.get(engine[1], ()) if engine else ()
    breaches += [*_portability(tree, extra), *_parameters(tree, declared)]
    never_zero = re.search(rf"^-- {FACT}: (.+?)\.?$", text, re.MULTILINE)
    above_zero = [name for name, is_above in declared.items() if is_above]
    refuse(path, text, [*breaches, *unguarded(tree, above_zero, never_zero[1] if never_zero else "")])


def _is_curve(tree: exp.Query) -> bool:
    return tree.named_selects[:2] == ["group_id", "point"]


def refuse(path: Path, text: str, breaches: list[Breach]) -> None:
    """Raise ``ContractError`` if there are breaches."""
    if breaches:
        raise ContractError("\n".join(f"{path}:{line_of(text, place)}: {rule}" for place, rule in breaches))


def _portability(tree: exp.Expr, extra: tuple[type[exp.Expr], ...]) -> Iterator[Breach]:
    skip = (exp.Create, exp.UserDefinedFunction, exp.Properties) if isinstance(tree, exp.Create) else ()
    for node in tree.walk():
        if isinstance(node, (exp.Anonymous, *ALLOWED, *skip, *extra)):
            continue
        advice = next(
            (text for kind, text in PORTABLE_FORM.items() if isinstance(node, kind)), "not known to mean the same on every engine"
        )
        yield node, f"{type(node).__name__.removesuffix('Property')} is not allowed: {advice}"
    for window in tree.find_all(exp.Window):
        if window.args.get("alias"):
            yield "WINDOW", "named windows are not allowed: write the window inline"
    for select in tree.find_all(exp.Select):
        yield from _shadows(select)
    for union in tree.find_all(exp.Union):
        if union.args.get("distinct"):
            yield "UNION", "UNION is not allowed: write UNION ALL"
    for join in tree.find_all(exp.Join):
        if join.args.get("using"):
            yield "USING", "USING is not allowed: write ON"


def _shadows(select: exp.Select) -> Iterator[Breach]:
    """Engines disagree whether GROUP BY means a column, or what the SELECT calls by its name."""
    keys = {key.name for key in select.args.get("group", exp.Group()).expressions}
    for item in select.expressions:
        if isinstance(item, exp.Alias) and item.alias in keys and item.alias != item.this.name:
            yield item, f"{item.alias} is grouped by and the name of something else: choose another name"


def _parameters(tree: exp.Expr, declared: Mapping[str, bool]) -> Iterator[Breach]:
    used = {node.name: node for node in tree.find_all(exp.Placeholder)}
    for name in sorted(declared.keys() - used.keys()):
        yield f"${name}", f"${name} is documented, but not used"
    for name in sorted(used.keys() - declared.keys()):
        yield (
            f"${name}" if name != "?" else name,
            f"${name} is used, but not documented; add a line '-- ${name}: number, default ...: what it is.'",
        )


def _function(tree: exp.Expr, slot: str) -> Iterator[Breach]:
    if not isinstance(tree, exp.Create) or tree.args.get("kind") != "MACRO" or isinstance(tree.expression, exp.Query):
        what = "a function has no subquery: it" if isinstance(tree, exp.Create) else "a function file"
        yield "CREATE", f"a function file is one CREATE MACRO name(arguments) AS expression; {what} holds no SELECT"
    elif tree.this.this.name != slot:
        yield "CREATE", f"the macro is named after its folder, {slot!r}"
    elif tree.expression.find(exp.Query):
        yield "CREATE", "a function has no subquery"


def _metric(tree: exp.Expr) -> Iterator[Breach]:  # noqa: C901  one rule after another
    if not isinstance(tree, exp.Select):
        yield "", "a metric is one SELECT"
        return
    for clause, name in _METRIC_CLAUSES.items():
        if found := tree.args.get(clause):
            yield found[0] if clause == "joins" else name, f"a metric has no {name}; that belongs in a relation"
    if found := tree.find(exp.Window, exp.Subquery):
        yield "OVER" if isinstance(found, exp.Window) else found, "a metric has no window and no subquery; they belong in a relation"
    source = tree.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table) or source.this.args.get("alias"):
        yield "FROM", "a metric reads exactly one relation, without an alias"
    for call in tree.find_all(exp.Column):
        if call.parent_select is tree and call.name not in KEYS and not call.find_ancestor(exp.AggFunc):
            yield call, f"{call.name} stands outside an aggregate"
    keys = [column.name for column in tree.selects[:-1]]
    if any(isinstance(column, exp.Star) for column in tree.selects):
        yield "*", "a metric lists its columns"
    elif len(keys) != 1 or not KEYS.issuperset(keys) or not isinstance(tree.selects[-1], exp.Alias):
        yield "SELECT", "a metric selects list_id or group_id and then one aggregate expression with an alias"
    group = tree.args.get("group")
    if group is None or [column.name for column in group.expressions] != keys:
        yield "GROUP", "a metric is grouped by exactly its key, list_id or group_id"
    if not tree.selects[-1].find(exp.AggFunc):
        yield "SELECT", "the last column of a metric is an aggregate"


def _relation(tree: exp.Expr) -> Iterator[Breach]:
    if not isinstance(tree, exp.Query):
        yield "", "a relation is one SELECT or UNION ALL"
        return
    for star in tree.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            yield "*", "a relation lists its columns"
    if tree.find(exp.CTE):
        yield "WITH", "a relation has no CTE; make it a relation of its own"


_FIRST = "--"


def line_of(text: str, place: exp.Expr | str) -> int:
    """Return the line that a node stands in, or the first line of code that holds a word."""
    lines = list(enumerate(text.splitlines(), start=1))
    code = [(number, line) for number, line in lines if not line.startswith("--")]
    if isinstance(place, exp.Expr):
        found = [node.meta["line"] for node in place.walk() if "line" in node.meta]
        if found:
            return int(min(found))
        place = place.sql("duckdb").split("(")[0].split(" ")[0]
    everywhere = lines if place.startswith(("$", "--")) else code
    return next((number for number, line in everywhere if place.lower() in line.lower()), code[0][0] if code else 1)
