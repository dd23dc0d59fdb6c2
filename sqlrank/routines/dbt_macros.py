"""Build dbt macros from statements of table functions, with Jinja in place of tables, columns, groups and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.rendering.formatter import format_tree
from sqlrank.routines.symbolic_statement import GROUP_COLUMN, SOURCE_GROUP_COLUMN
from sqlrank.routines.table_functions import build_table_query
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.registry.sql_file import Parameter
    from sqlrank.routines.symbolic_statement import RoutineParameter, SymbolicStatement

PACKAGE = "sqlrank"
"""Name of the package, in which macros call each other."""

_COLUMN_LISTS = (exp.Select, exp.Group, exp.Window, exp.Ordered, exp.Anonymous)
"""Nodes in which the column of the group is an item of a list, in the place of which there may be several."""

_CONDITIONS = (exp.EQ, exp.NullSafeEQ, exp.Is, exp.And, exp.Or, exp.Paren)
"""Nodes of which the comparison of two groups consists, in any dialect."""


@dataclass(frozen=True)
class DbtMacro:
    """A macro of dbt with a statement for each adapter.

    Attributes:
        name: Name in the package.
        description: Its documentation.
        inputs: Inputs whose relations it takes, with the columns that it reads.
        parameters: Parameters of metrics.
        columns: Columns of its result, beside those of groups.
        queries: Texts of the statement by adapter.
    """

    name: str
    description: str
    inputs: Mapping[str, Sequence[str]]
    parameters: Sequence[RoutineParameter]
    columns: Sequence[str]
    queries: Mapping[str, str]

    @property
    def arguments(self) -> list[tuple[str, str | None]]:
        """The arguments with the Jinja text of their defaults, those without a default first."""
        parameters = sorted(self.parameters, key=lambda parameter: parameter.default is not None)
        numbers = [(parameter.name, None if parameter.default is None else f"{parameter.default:.17g}") for parameter in parameters]
        return [*((role, None) for role in self.inputs), *numbers, ("by", "none"), ("columns", "{}")]

    @property
    def dispatcher(self) -> str:
        """The text of the macro that a model calls, which checks its arguments, and of the one for adapters without a statement."""
        signature = ", ".join(name if default is None else f"{name}={default}" for name, default in self.arguments)
        checks = [_write_range_check(one.name, one.declared) for one in self.parameters if one.declared is not None]
        allowed = [name for role, columns in self.inputs.items() for column in columns for name in (column, f"{role}.{column}")]
        checks.append(f"{{%- do {PACKAGE}.check_columns(columns, {list(dict.fromkeys(allowed))}) -%}}")
        values = ["columns" if name == "columns" else "groups" if name == "by" else name for name, _ in self.arguments]
        return "\n".join(
            [
                f"{{% macro {self.name}({signature}) %}}",
                *(f"  {check}" for check in checks),
                f"  {{%- set groups = {PACKAGE}.list_groups(by) -%}}",
                f"  {{{{- adapter.dispatch('{self.name}', '{PACKAGE}')({', '.join(values)}) -}}}}",
                "{% endmacro %}",
                "",
                f"{{% macro default__{self.name}({', '.join(self.values)}) %}}",
                f"  {{{{- {PACKAGE}.refuse_adapter('{self.name}', {list(self.queries)}) -}}}}",
                "{% endmacro %}",
                "",
            ]
        )

    @property
    def values(self) -> list[str]:
        """The arguments of the macros of adapters, in which groups are lists."""
        return ["groups" if name == "by" else name for name, _ in self.arguments]

    def adapter_macro(self, adapter: str) -> str:
        """Return the text of the macro of an adapter."""
        return f"{{% macro {adapter}__{self.name}({', '.join(self.values)}) %}}\n{self.queries[adapter]}\n{{% endmacro %}}\n"


def _write_range_check(name: str, declared: Parameter) -> str:
    """Return the call that refuses a value of a parameter out of its range."""
    kind, excluded = ("true" if is_so else "false" for is_so in (declared.type == "integer", declared.excludes_low))
    return f"{{%- do {PACKAGE}.check_range('{name}', {name}, '{declared.limited_range_text}', {declared.low!r}, {declared.high!r}, {kind}, {excluded}) -%}}"


def build_dbt_query(symbolic: SymbolicStatement, dialect: str) -> str:
    """Return the statement of a macro, in which Jinja reads relations, names columns and lists groups.

    Raises:
        MetricError: The dialect cannot express the statement, or it uses groups in a way that a list of columns cannot replace.
    """
    query = build_table_query(symbolic, dialect, lambda role: _read_source(symbolic, role), lambda name: exp.var(f"{{{{ {name} }}}}"))
    _put_groups(query, dialect)
    return format_tree(query, dialect, pretty=True)[0]


def _read_source(symbolic: SymbolicStatement, role: str) -> exp.Select:
    """Return the query that reads the relation of a role under the names of its columns."""
    groups = "groups" if role in symbolic.group_roles else "[]"
    columns = f"{{{{ {PACKAGE}.source_columns('{role}', {list(symbolic.read_columns[role])}, columns, {groups}) }}}}"
    return exp.select(exp.var(columns)).from_(exp.Table(this=exp.var(f"{{{{ {role} }}}}")))


def _put_groups(query: exp.Select, dialect: str) -> None:
    """Replace the column of the group in place by a list of columns, and comparisons of it by one for each."""
    key, *values = query.selects
    if key.output_name != GROUP_COLUMN:
        raise MetricError(f"{key.sql()} is not the column of the group")
    keys = f"{{{{ {PACKAGE}.group_keys(groups, '{_find_qualifier(key.unalias())}') }}}}"
    query.set("expressions", [exp.var(f"{keys}{_format_sql(values[0], dialect)}"), *values[1:]])
    for alias in find_nodes(query, exp.Alias):
        if _is_group(alias.args["alias"]):
            _repeat_expression(alias, dialect, ", ")
    for column in find_nodes(query, exp.Column):
        if not _is_group(column) or column.root() is not query:
            continue
        if isinstance(column.parent, _COLUMN_LISTS):
            column.replace(exp.var(f"{{{{ {PACKAGE}.group_columns(groups, '{_find_qualifier(column)}') }}}}"))
        else:
            _repeat_expression(_find_comparison(column, dialect), dialect, " AND ")


def _format_sql(tree: exp.Expr, dialect: str) -> str:
    return format_tree(tree, dialect, pretty=False)[0]


def _is_group(column: exp.Expr) -> bool:
    return column.name.lower() == SOURCE_GROUP_COLUMN


def _find_qualifier(column: exp.Expr) -> str:
    """Return the table before a column with a dot, nothing if there is none."""
    return f"{column.args['table'].name}." if column.args.get("table") else ""


def _find_comparison(column: exp.Column, dialect: str) -> exp.Expr:
    """Find the condition that compares two groups, of which a column is part."""
    condition: exp.Expr = column
    while isinstance(condition.parent, _CONDITIONS) and all(_is_group(other) for other in find_nodes(condition.parent, exp.Column)):
        condition = condition.parent
    if condition is column:
        raise MetricError(f"the group in {_format_sql(column.parent or column, dialect)} cannot be a list of columns")
    return condition


def _repeat_expression(node: exp.Expr, dialect: str, separator: str) -> None:
    """Replace an expression of the group in place by one for each column of the group."""
    for identifier in find_nodes(node, exp.Identifier):
        if _is_group(identifier):
            identifier.replace(exp.var(f"{SOURCE_GROUP_COLUMN}_{{{{ loop.index }}}}"))
    text = _format_sql(node if isinstance(node, (exp.Paren, exp.Alias)) else exp.paren(node.copy()), dialect)
    node.replace(exp.var(f"{{% for _ in groups %}}{text}{{% if not loop.last %}}{separator}{{% endif %}}{{% endfor %}}"))
