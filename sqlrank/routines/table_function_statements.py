"""Write functions of tables for databases other than DuckDB: table functions, views with parameters, procedures, or plain statements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.rendering.formatter import format_tree
from sqlrank.routines.check_steps import CHECKS_PARAMETER, add_checks
from sqlrank.routines.routine import Routine, qualify_function
from sqlrank.routines.symbolic_statement import GROUP_COLUMN, SOURCE_GROUP_COLUMN, RoutineParameter
from sqlrank.routines.table_functions import GROUP_PARAMETER, build_table_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.routines.routine import RoutineFacts
    from sqlrank.routines.symbolic_statement import SymbolicStatement


@dataclass(frozen=True)
class _Form:
    """Texts of a function of tables in a dialect.

    Attributes:
        create: Statements that create it, with fields such as ``{query}``.
        drop: Statement that drops it.
        types: Types of tables, numbers, the group and ``checks``, by which functions of one name are told apart.
        call: Call with all its parameters.
        source: FROM item of an input, by ``{role}`` and its ``{place}``.
        group: Column of the group, if the input has none.
        parameter: Reference to a parameter, by ``{name}`` and its ``{place}``.
        argument: Declaration of a table.
        number: Declaration of a parameter, with ``{default}`` in that of one that has a default.
        default: Text of a default.
        group_argument: Declaration of the parameter of the group.
        checks_argument: Declaration of the parameter that is false if rows are not checked, if it can have a default.
        passed: A table or number in a call, by ``{name}`` and its ``{value}``.
        text_type: Type of groups and ids in the result.
        number_type: Type of metrics in the result.
    """

    create: tuple[str, ...]
    drop: str
    call: str
    source: str
    group: str
    parameter: str
    argument: str = ""
    number: str = ""
    default: str = ""
    group_argument: str = ""
    checks_argument: str = ""
    passed: str = "{name}"
    text_type: str = "TEXT"
    number_type: str = "DOUBLE"
    types: tuple[str, str, str, str] = ("", "", "", "")


_POSTGRES = _Form(
    create=(
        "DROP FUNCTION IF EXISTS {name}({other_types})",
        (
            "CREATE OR REPLACE FUNCTION {name}({arguments}) RETURNS TABLE ({columns}) LANGUAGE plpgsql STABLE AS $sqlrank$\n"
            "BEGIN\n  RETURN QUERY EXECUTE format($query$\n{query}\n$query$, {formatted}){using};\nEND\n$sqlrank$"
        ),
        "COMMENT ON FUNCTION {name} IS {comment}",
    ),
    drop="DROP FUNCTION IF EXISTS {name}",
    types=("regclass", "double precision", "text", "boolean"),
    call="{name}({values})",
    source="%{place}$s",
    group="%{last}$s",
    parameter="${place}",
    argument="{role} regclass",
    number="{name} double precision{default}",
    default=" DEFAULT {value}",
    group_argument='"by" text DEFAULT NULL',
    checks_argument=f"{CHECKS_PARAMETER} boolean DEFAULT TRUE",
    text_type="text",
    number_type="double precision",
)
_BIGQUERY = _Form(
    create=("CREATE OR REPLACE TABLE FUNCTION {name}({arguments})\nOPTIONS (description = {comment})\nAS (\n{query}\n)",),
    drop="DROP TABLE FUNCTION IF EXISTS {name}",
    call="{name}({values})",
    source="{role}",
    group=GROUP_COLUMN,
    parameter="{name}",
    argument="{role} TABLE<{fields}>",
    number="{name} FLOAT64",
)
_CLICKHOUSE = _Form(
    create=("CREATE OR REPLACE VIEW {name} AS\n{query}\nCOMMENT {comment}",),
    drop="DROP VIEW IF EXISTS {name}",
    call="{name}({values})",
    source="merge(currentDatabase(), concat('^', {{{role}:String}}, '$'))",
    group="{{by:Identifier}}",
    parameter="{{{name}:Float64}}",
    passed="{name} = {value}",
)
_SNOWFLAKE = _Form(
    create=(
        "DROP PROCEDURE IF EXISTS {name}({other_types})",
        (
            "CREATE OR REPLACE PROCEDURE {name}({arguments})\nRETURNS TABLE ()\nLANGUAGE SQL\nCOMMENT = {comment}\nAS $$\n"
            "DECLARE\n  found RESULTSET DEFAULT (\n{query}\n);\nBEGIN\n  RETURN TABLE(found);\nEND\n$$"
        ),
    ),
    drop="DROP PROCEDURE IF EXISTS {name}({types})",
    types=("VARCHAR", "FLOAT", "VARCHAR", "BOOLEAN"),
    call="TABLE({name}({values}))",
    source="IDENTIFIER(:{role})",
    group="GET(OBJECT_CONSTRUCT(*), UPPER(:by))",
    parameter=":{name}",
    argument="{role} VARCHAR",
    number="{name} FLOAT{default}",
    default=" DEFAULT {value}",
    group_argument="by VARCHAR DEFAULT NULL",
    checks_argument=f"{CHECKS_PARAMETER} BOOLEAN DEFAULT TRUE",
)
_SPARK = _Form(
    create=("DECLARE OR REPLACE VARIABLE {name} STRING DEFAULT {quoted}",),
    drop="DROP TEMPORARY VARIABLE IF EXISTS {name}",
    call="EXECUTE IMMEDIATE {name} USING {values}",
    source="IDENTIFIER(:{role})",
    group="IDENTIFIER(:by)",
    parameter=":{name}",
    passed="{value} AS {name}",
)
_FORMS = {
    "postgres": _POSTGRES,
    "bigquery": _BIGQUERY,
    "clickhouse": _CLICKHOUSE,
    "snowflake": _SNOWFLAKE,
    "spark": _SPARK,
    "databricks": _SPARK,
}


def takes_checks(dialect: str) -> bool:
    """Return True if functions of a dialect have a parameter that turns the checks of rows off; where it had no default, all calls would pass it."""
    return dialect in _FORMS and bool(_FORMS[dialect].checks_argument)


def list_group_parameters(dialect: str, roles: Sequence[str]) -> list[RoutineParameter]:
    """Return the parameter by which rows are grouped, or the column where it is none."""
    inputs = " and ".join(roles)
    described = {
        "duckdb": (GROUP_PARAMETER, f"expression over {inputs} to group by"),
        "bigquery": (GROUP_COLUMN, f"column of {inputs} with the group, as text, which may be NULL"),
        "clickhouse": (GROUP_PARAMETER, f"name of the column of {inputs} to group by, '_table' for one group"),
        "spark": (GROUP_PARAMETER, f"name of the column of {inputs} to group by"),
    }
    described["databricks"] = described["spark"]
    return [RoutineParameter(name, None, about) for name, about in [described.get(dialect, (GROUP_PARAMETER, described["spark"][1]))]]


def create_table_routine(dialect: str, schema: str, facts: RoutineFacts, symbolic: SymbolicStatement) -> Routine:
    """Return the function of a symbolic statement.

    Raises:
        MetricError: The dialect cannot express the statement.
    """
    form, roles, parameters = _FORMS[dialect], list(symbolic.read_columns), symbolic.parameters
    takes_group = form.group != GROUP_COLUMN  # else a column of the input has that name
    is_optional = bool(symbolic.checks) and takes_checks(dialect)
    values = [*(parameter.name for parameter in parameters), *([CHECKS_PARAMETER] if is_optional else [])]
    positions = {name: str(place) for place, name in enumerate(values, 1)}

    def refer_to(name: str) -> exp.Expr:
        return exp.var(form.parameter.format(name=name, place=positions[name]))

    def read_source(role: str) -> exp.Select:
        table = form.source.format(role=role, place=roles.index(role) + 1)
        group = form.group.format(last=len(roles) + 1)
        text = exp.DataType.build("text", dialect=dialect)
        groups = [exp.alias_(exp.cast(exp.var(group), text), SOURCE_GROUP_COLUMN)] if role in symbolic.group_roles else []
        return exp.select("*", *groups).from_(exp.Table(this=exp.var(table)))

    query = build_table_query(symbolic, dialect, read_source, refer_to, positions if form.parameter == "{name}" else [])
    _cast_columns(query, symbolic, form, facts.metrics[0])
    add_checks(query, symbolic, dialect, refer_to, refer_to(CHECKS_PARAMETER) if is_optional else None)
    text = format_tree(query, dialect, pretty=True)[0]
    name = qualify_function(schema, facts.name, dialect, is_prefix=form is _SPARK).sql(dialect)
    arguments = [
        *(form.argument.format(role=role, fields=_list_fields(role, symbolic)) for role in roles),
        *(form.number.format(name=parameter.name, default=_write_default(form, parameter)) for parameter in _sort_parameters(parameters)),
        form.group_argument,
        form.checks_argument if is_optional else "",
    ]
    fields: dict[str, str] = {
        "name": name,
        "query": text,
        "quoted": exp.Literal.string(text).sql(dialect),
        "comment": exp.Literal.string(facts.comment).sql(dialect),
        "arguments": ", ".join(argument for argument in arguments if argument),
        "columns": ", ".join(
            f"{exp.to_identifier(column, quoted=True).sql(dialect)} {_find_type(form, kind, facts.metrics[0])}"
            for column, kind in _list_columns(symbolic)
        ),
        "types": _list_types(form, len(roles), len(parameters), is_optional),
        "other_types": _list_types(form, len(roles), len(parameters), not is_optional),
        "values": ", ".join(
            [*_list_arguments(form, roles, parameters, takes_group), *([f"{CHECKS_PARAMETER} => TRUE"] if is_optional else [])]
        ),
        "using": f" USING {', '.join(values)}" if values else "",
        "formatted": ", ".join(
            [*roles, f"CASE WHEN \"{GROUP_PARAMETER}\" IS NULL THEN 'NULL' ELSE format('%I', \"{GROUP_PARAMETER}\") END"]
        ),
    }
    if form is _POSTGRES:
        fields["query"] = re.sub(r"%(?!\d+\$s)", "%%", text)  # format() reads places of tables
    return Routine(
        facts,
        form.call.format(**fields),
        tuple(statement.format(**fields) for statement in form.create),
        (form.drop.format(**fields),),
    )


def _list_columns(symbolic: SymbolicStatement) -> list[tuple[str, str]]:
    """Return the columns of a function with their kinds."""
    return [(name, output.kind) for name, output in zip(symbolic.columns, symbolic.statement.outputs, strict=True)]


def _find_type(form: _Form, kind: str, metric: str) -> str:
    """Return the type of a column of a kind.

    Raises:
        MetricError: It is one of a curve, whose type is that of a column of the caller.
    """
    if kind not in {"by", "query", "metric"}:
        raise MetricError(f"{metric} has rows of its own, whose types no function declares. Print a statement: sqlrank sql {metric}")
    return form.number_type if kind == "metric" else form.text_type


def _cast_columns(query: exp.Select, symbolic: SymbolicStatement, form: _Form, metric: str) -> None:
    """Give columns of a query their types, in place."""
    types = {form.text_type: exp.DataType.Type.TEXT, form.number_type: exp.DataType.Type.DOUBLE}
    items = zip(query.selects, _list_columns(symbolic), strict=True)
    query.set(
        "expressions", [exp.alias_(exp.cast(item.unalias(), types[_find_type(form, kind, metric)]), name) for item, (name, kind) in items]
    )


def _list_fields(role: str, symbolic: SymbolicStatement) -> str:
    """Return the columns of a table that a function of BigQuery takes."""
    specs = symbolic.request.roles[role].columns
    names = [*([GROUP_COLUMN] if role in symbolic.group_roles else []), *symbolic.read_columns[role]]
    kinds = {"list": "ARRAY<STRING>", "integer": "INT64", "number": "FLOAT64", "double": "FLOAT64"}
    return ", ".join(f"{name} {kinds.get(specs[name].type if name in specs else 'key', 'STRING')}" for name in names)


def _list_types(form: _Form, num_tables: int, num_numbers: int, is_optional: bool) -> str:
    """Return the types of a function's parameters, with that of ``checks`` if it ``is_optional``.

    A function without that parameter would otherwise stay beside the one with it, and no call could tell which it means.
    """
    table, number, group, checks = form.types
    return ", ".join([table] * num_tables + [number] * num_numbers + [group] + [checks] * is_optional)


def _sort_parameters(parameters: tuple[RoutineParameter, ...]) -> list[RoutineParameter]:
    """Return parameters, those without a default first."""
    return sorted(parameters, key=lambda parameter: parameter.default is not None)


def _write_default(form: _Form, parameter: RoutineParameter) -> str:
    return "" if parameter.default is None else form.default.format(value=f"{parameter.default:.17g}")


def _list_arguments(form: _Form, roles: list[str], parameters: tuple[RoutineParameter, ...], takes_group: bool) -> list[str]:
    """Return the arguments of a call as its signature shows them."""
    tables = [form.passed.format(name=role, value=f"'{role}'") for role in roles]
    numbers = [
        form.passed.format(name=one.name, value="..." if one.default is None else f"{one.default:.17g}")
        for one in _sort_parameters(parameters)
    ]
    return [*tables, *numbers, *([form.passed.format(name=GROUP_PARAMETER, value="'...'")] if takes_group else [])]
