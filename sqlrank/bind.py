"""Put functions and the values of parameters into the tree of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.settings import check_value
from sqlrank.sqlfile import ALL, Param, SqlFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library import Library
    from sqlrank.metric import Value


class Binder:
    """Binds trees; ``used`` are the settings that were read, ``files`` what was taken from them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.used: set[str] = set()
        self.files: dict[str, None] = {}

    def note(self, file: SqlFile) -> None:
        """Remember that a file was used."""
        parts = file.path.parts
        self.files["/".join(parts[parts.index(file.kind) :])] = None

    def bind(self, tree: exp.Expr, settings: Mapping[str, Value], params: Mapping[str, Param]) -> exp.Expr:
        """Return a copy with functions expanded and ``$parameters`` replaced by their values."""
        holder = exp.Paren(this=tree.copy())
        for node in list(holder.find_all(exp.Placeholder)):
            value = self._value(params[node.name], settings)
            if value == ALL and isinstance(node.parent, exp.LTE) and node is node.parent.expression:
                _unbound(node.parent)
            else:
                node.replace(_literal(value))
        while call := holder.find(exp.Anonymous):
            call.replace(self.apply(call.name.lower(), call.expressions, settings))
        bound: exp.Expr = holder.this
        return bound

    def apply(self, slot: str, arguments: list[exp.Expr], settings: Mapping[str, Value]) -> exp.Expr:
        """Return the body of the function that fills a slot, applied to arguments."""
        chosen = settings.get(slot) or self._slot_default(slot)
        self.used.add(slot)
        if isinstance(chosen, tuple):
            of_grades = next(iter(self.library.functions[slot].values())).arguments == ("relevance",)
            return _grade_map(slot, chosen, arguments, of_grades)
        file = self.library.function(slot, str(chosen))
        self.note(file)
        body = exp.Paren(this=file.tree.copy())
        values = dict(zip(file.arguments, arguments, strict=True))
        for column in list(body.find_all(exp.Column)):
            if column.name in values and not column.table:
                column.replace(_wrap(values[column.name].copy()))
        return self.bind(_wrap(body.this), settings, file.params)

    def _slot_default(self, slot: str) -> str:
        declaring = (file.choices[slot] for file in self.library.relations.values() if slot in file.choices)
        choice = next(declaring, None)
        if choice:
            return choice.default
        only = next(iter(self.library.functions[slot]))
        return {"aggregate": "mean", "no_relevant": "zero"}.get(slot, only)

    def _value(self, param: Param, settings: Mapping[str, Value]) -> Value:
        self.used.add(param.name)
        value = settings.get(param.name, param.default)
        if value is None:
            raise MetricError(f"no value for {param.name}: {param.about} Give one, as in nDCG({param.name}=...)")
        if value == ALL and param.high < ALL:
            raise MetricError(f"a cut-off from 1 to {param.high:g} is needed here; write it after @, as in nDCG@10")
        check_value(param.name, param, value)
        return value


def _unbound(comparison: exp.LTE) -> None:
    """Put what is left of ``rank <= all`` in its place: a rank. A WHERE of nothing else goes: engines would guess how many rows it keeps."""
    if isinstance(comparison.parent, exp.Where):
        comparison.parent.pop()
    else:
        comparison.replace(exp.Not(this=exp.Is(this=comparison.this, expression=exp.Null())))


def _grade_map(slot: str, pairs: tuple[Any, ...], arguments: list[exp.Expr], of_grades: bool) -> exp.Expr:
    """Return a CASE that maps grades to gains; grades that are not named keep their value."""
    if not of_grades or not all(isinstance(pair, tuple) for pair in pairs):
        raise MetricError(f"{slot} cannot be a map; only functions of a grade can")
    (grade,) = arguments
    case = exp.Case(ifs=[], default=grade.copy())
    for key, value in pairs:
        if key <= 0:
            raise MetricError(f"{slot} maps grade {key:g}; only grades above 0 can be given a gain")
        case.append("ifs", exp.If(this=exp.EQ(this=grade.copy(), expression=_literal(key)), true=_literal(value)))
    return case


def _literal(value: Value) -> exp.Expr:
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, tuple):
        raise MetricError(f"a list of values is not possible here: {value!r}")
    number = int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
    literal = exp.Literal.number(repr(abs(number)))
    return exp.Neg(this=literal) if number < 0 else literal


def _wrap(node: exp.Expr) -> exp.Expr:
    return exp.paren(node) if isinstance(node, (exp.Binary, exp.Neg)) else node
