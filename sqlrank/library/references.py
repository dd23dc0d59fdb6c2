"""What a file names has to be there: relations, inputs, function slots and their arguments, columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import suggestion
from sqlrank.library.contract import check, refuse
from sqlrank.library.orders import FACT, wrong_orders
from sqlrank.library.selects import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlrank.library.contract import Breach
    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library


def keeps_contract(file: SqlFile, library: Library) -> None:
    """Raise ``ContractError`` for each rule that a file breaks, and for what it names and is not there."""
    declared = {name: param.is_above_zero for name, param in file.params.items() if not _is_passed_on(name, file, library)}
    check(file.kind, file.path, file.text, file.statement, declared)
    rules = (_parameters, _tables, _calls, _columns, _facts)
    refuse(file.path, file.text, [breach for rule in rules for breach in rule(file, library)])


def _is_passed_on(param: str, file: SqlFile, library: Library) -> bool:
    """Whether a parameter of a metric or curve is not its own, but read by its relation, whatever the policies are."""
    is_own = file.kind not in {"metrics", "curves"} or any(node.name == param for node in file.tree.find_all(exp.Placeholder))
    return not is_own and _reads(file.reads, param, library)


def _reads(relation: str, param: str, library: Library) -> bool:
    """Whether every file of a relation reads a parameter, itself or through others."""
    variants = [library.checked(variant) for variant in library.variants(relation)]
    others = ({table.name for table in variant.tree.find_all(exp.Table)} - {relation} for variant in variants)
    each = zip(variants, others, strict=True)
    return bool(variants) and all(param in file.params or any(_reads(name, param, library) for name in names) for file, names in each)


def _parameters(file: SqlFile, library: Library) -> Iterator[Breach]:
    for name in file.params:
        if name in library.functions or name in library.policies:
            kind = "function" if name in library.functions else "policy"
            yield (
                f"${name}",
                f"a parameter cannot be called {name!r}, as a {kind} is, which would then take no value but a parameter's; choose another name",
            )


def _tables(file: SqlFile, library: Library) -> Iterator[Breach]:
    known = library.relation_names | library.roles.keys()
    of_lists = {role.name for role in library.roles.values() if role.lists}
    for table in file.tree.find_all(exp.Table):
        if table.db or table.name not in known or (file.kind == "metrics" and table.name in of_lists):
            yield table, f"no relation {table.sql('duckdb')!r}{suggestion(table.name, known)} A file reads relations only"
        elif file.kind == "relations" and table.name == file.name and table.name not in library.roles:
            yield table, f"a relation cannot read itself, {file.name!r}"


def _calls(file: SqlFile, library: Library) -> Iterator[Breach]:
    for call in file.tree.find_all(exp.Anonymous):
        slot = call.name.lower()
        if slot not in library.functions:
            yield call, f"no function {call.name!r}{suggestion(call.name, library.functions)} Functions are files in functions/"
        elif len(library.arguments(slot)) != len(call.expressions):
            arguments = library.arguments(slot)
            yield call, f"{call.name} takes {len(arguments)} arguments: {', '.join(arguments)}"
        elif file.kind == "functions" and slot == file.name:
            yield call, f"a function cannot call itself, {call.name!r}"
        elif file.kind in {"metrics", "curves"} and slot not in file.choices:
            yield call, f"{call.name} is used, but not documented; add a line '-- {call.name}(): default ...: what it is.'"
    if file.kind == "functions" and file.arguments != library.arguments(file.name):
        yield "CREATE", f"the arguments of {file.name} are: {', '.join(library.arguments(file.name))}"


def _columns(file: SqlFile, library: Library) -> Iterator[Breach]:
    known = _known_columns(file, library)
    if known is None:
        return
    for column in file.tree.find_all(exp.Column):
        if column.name not in known:
            yield column, f"no column {column.name!r}{suggestion(column.name, known)} There are: {', '.join(sorted(known))}"


def _known_columns(file: SqlFile, library: Library) -> set[str] | None:
    """Return the columns that a function or metric can name, None where they are not known."""
    if file.kind == "functions":
        return set(file.arguments)
    if file.kind != "metrics" or not isinstance(file.tree, exp.Select):
        return None
    role = library.roles.get(file.reads)
    if role is not None:
        return {"group_id", "list_id", *role.columns}
    variants = library.variants(file.reads)
    return {name for variant in variants for name in library.checked(variant).tree.named_selects} if variants else None


def _facts(file: SqlFile, library: Library) -> Iterator[Breach]:
    known = requirements(library) if file.requires else {}
    for name in file.requires:
        if name not in known:
            yield "-- Requires", f"no requirement {name!r}{suggestion(name, known)} There are: {', '.join(known)}"
    if "Check" in file.facts and file.facts["Check"] not in library.checks:
        yield "-- Check", f"no check {file.facts['Check']!r}{suggestion(file.facts['Check'], library.checks)} Checks are files in checks/"
    if FACT in file.facts and (problem := wrong_orders(file, library)):
        yield f"-- {FACT}", problem


def requirements(library: Library) -> dict[str, str]:
    """Return what metrics may require of rows, and the rule of ``checks/<role>.sql`` that looks for it."""
    return {rule.requirement: rule.name for role in library.roles if role in library.checks for rule in rules_of(library.checks[role])}
