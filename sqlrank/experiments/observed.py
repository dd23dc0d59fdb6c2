"""The rows of an experiment: which column is which, and whether they are what they are taken for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import InputError, shown, suggestion
from sqlrank.experiments.sums import FOLDER, KEYS, OBSERVATIONS, steps_of_sums
from sqlrank.inputs.checks import EXAMPLES, NUMBERS, describe, over, problem, refuse
from sqlrank.inputs.input import Input
from sqlrank.inputs.mapping import stand_for
from sqlrank.inputs.rules import rules
from sqlrank.inputs.several import find
from sqlrank.inputs.where import keep
from sqlrank.library.folder import sql_root
from sqlrank.library.nodes import nodes
from sqlrank.library.roles import Role, RoleColumn

if TYPE_CHECKING:
    from sqlrank.engines.database import Database
    from sqlrank.experiments.asked import Experiment

DATA = "data"

CONTROL = "control"
"""The variant that others are compared with, if there is one of this name and none is named."""

FEWEST = 2
"""How many units a variance needs, and an experiment variants."""

ABOUT = "what was observed: a row per exposure, session or unit"


def find_data(asked: Experiment, database: Database, source: Any, unit: str, variant: str, where: str | None) -> Input:
    """Return the rows of an experiment; raise ``InputError`` for columns that are not there or no numbers."""
    amounts = {name: RoleColumn(name, "double", text) for (text, _), name in asked.amounts.items()}
    keys = {name: RoleColumn(name, "key", "") for name in KEYS}
    item = Input(Role(DATA, ABOUT, {**keys, **amounts}), find(database, DATA, source))
    texts = dict(zip(KEYS, (unit, variant), strict=True)) | {name: column.about for name, column in amounts.items()}
    for name, text in texts.items():
        stand_for(item, name, text, database)
    if not item.type_of("variant").startswith("VARCHAR"):
        item.as_text.add("variant")
    for name, column in amounts.items():
        kind = item.type_of(name)
        if kind and not item.table.is_empty and (not kind.startswith(NUMBERS) or kind.endswith("]")):
            raise InputError(f"{item.shown}: {column.about} is {kind}, not a number; cast it, or name another column")
    keep(where, {DATA: item}, labelled=False, dialect=item.table.dialect)
    return item


def check_rows(asked: Experiment, database: Database, item: Input) -> None:
    """Raise ``InputError`` with all that is wrong with single rows."""
    conditions, meanings = _conditions(asked, item)
    columns = tuple(item.role.columns)
    counts = [
        exp.alias_(
            exp.Sum(this=exp.Case(ifs=[exp.If(this=condition.copy(), true=exp.Literal.number(1))], default=exp.Literal.number(0))), name
        )
        for name, condition in conditions.items()
    ]
    ((rows, *counted),) = database.rows(over(exp.select(exp.alias_(exp.Count(this=exp.Star()), "all_rows"), *counts), item, columns))
    if not rows:
        raise InputError(f"{item.shown} has no rows{'' if item.where is None else f' where {database.text(item.where)}'}")
    problems = []
    for (name, condition), count in zip(conditions.items(), counted, strict=True):
        if count:
            broken = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
            query = exp.select("*").where(exp.EQ(this=broken, expression=exp.Literal.number(1)))
            what = f"{int(count):,} {'row' if count == 1 else 'rows'}: {meanings[name]}"
            problems.append(problem(database, item, what, query, columns))
    refuse(problems)


def _conditions(asked: Experiment, item: Input) -> tuple[dict[str, exp.Expr], dict[str, str]]:
    """Return the conditions that a row must not fulfil, and what they mean, for every column that is read."""
    kinds = {(name, name): item.names[name] for name in KEYS}
    for estimate in asked.estimates:
        for role, name in asked.columns_of(estimate).items():
            kinds[name, "covariate" if role.startswith("covariate") else role] = item.role.columns[name].about
    conditions: dict[str, exp.Expr] = {}
    meanings: dict[str, str] = {}
    path = sql_root() / FOLDER / "checks.sql"
    for (name, kind), text in kinds.items():
        found = rules(path, (kind,), type_of=lambda _, column=name: item.type_of(column))  # type: ignore[misc]
        for rule, condition in found.conditions.items():
            for column in nodes(condition, exp.Column):
                column.set("this", exp.to_identifier(name))
            conditions[f"{rule}_{name}"] = condition
            meanings[f"{rule}_{name}"] = f"{text}{found.meanings[rule].removeprefix(kind)}"
    return conditions, meanings


def crossed_units(asked: Experiment, database: Database, item: Input, count: int) -> InputError:
    """Return the error for units that were seen in several variants, with examples."""
    units = steps_of_sums(asked, item)["units"]
    query: Any = exp.select("unit_id", "variant", "last_variant").where("variant <> last_variant")
    plain: Any = units.copy()
    plain.set("expressions", plain.expressions[:3])

    def read(is_shown: bool) -> exp.Select:
        rows = item.select(KEYS, shown=is_shown).subquery(OBSERVATIONS)
        inner = plain.copy()
        inner.args["from_"].set("this", rows)
        found: exp.Select = query.copy().from_(inner.subquery("units"))
        return found

    one = count == 1
    what = f"{count:,} {'unit is' if one else 'units are'} in more than one variant; leave {'it' if one else 'them'} out (crossed='drop')"
    return InputError(describe(database, item, what, read(is_shown=False).order_by("unit_id").limit(EXAMPLES), read(is_shown=True)))


def control_of(asked: Experiment, variants: list[str]) -> str:
    """Return the variant that others are compared with; raise ``InputError`` if no unit is in it, or in no other."""
    found = CONTROL if asked.control is None else asked.control
    there = _listed(sorted(variants))
    if asked.control is None and found not in variants:
        raise InputError(f"say which variant others are compared with, control=...; there are {there}")
    if found not in variants:
        raise InputError(f"no unit is in the control {shown(found)}{suggestion(found, variants)} There are {there}")
    if len(variants) < FEWEST:
        raise InputError(f"all units are in the control {shown(found)}; an experiment needs units in another variant")
    strangers = [name for name in sorted(variants) if asked.shares and name not in asked.shares]
    if strangers:
        raise InputError(f"variant {shown(strangers[0])} has no share; shares name {_listed(list(asked.shares))}")
    return found


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def check_arms(rows: list[dict[str, Any]]) -> None:
    """Raise ``InputError`` for a variant of one unit."""
    few = next((row for row in rows if row["units"] < FEWEST), None)
    if few is not None:
        raise InputError(f"variant {few['variant']} has {few['units']} unit; a variance needs {FEWEST}")
