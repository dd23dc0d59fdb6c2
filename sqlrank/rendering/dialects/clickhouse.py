"""ClickHouse, with the settings that give it the NULLs of other engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, TableFunctionForm
from sqlrank.rendering.dialect_forms import plus_one
from sqlrank.rendering.number_rewrites import NUMBER, SERIES, read_bounds
from sqlrank.sql_ast import BIGINT, DOUBLE, call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from sqlrank.rendering.dialect_forms import ListJoin

_SETTINGS = ("join_use_nulls", "aggregate_functions_null_for_empty", "prefer_column_name_to_alias")
"""Settings that every statement needs for standard semantics."""

_MATERIALIZE_SETTING = "enable_materialized_cte"
"""Setting with which a server materializes CTEs that are marked; older versions lack it, and reject
it.
"""

_LIST = "element_list"
"""Column that repeats a whole list in each row, beside the position of an element."""


def _prepare_tree(tree: exp.Expr) -> None:
    """Name the columns of joins (else ``l.query_id``) and cast integers to double, with which they
    have no common type.
    """
    for select in find_nodes(tree, exp.Select):
        if select.args.get("joins"):
            for column in [
                column
                for column in select.expressions
                if isinstance(column, exp.Column) and not column.is_star
            ]:
                column.replace(column.copy().as_(column.name, quoted=column.this.quoted))
    for data_type in find_nodes(tree, exp.DataType):
        if data_type.is_type(BIGINT) and data_type.find_ancestor(exp.CTE):
            data_type.replace(exp.DataType.build(DOUBLE))
    for count in find_nodes(tree, exp.Count, exp.RowNumber, exp.Rank, exp.DenseRank):
        expression = count.parent if isinstance(count.parent, exp.Window) else count
        expression.replace(exp.cast(expression.copy(), DOUBLE))
    for function in find_nodes(tree, exp.CumeDist):
        function.replace(exp.Anonymous(this="cume_dist"))


def _add_settings(tree: exp.Expr) -> None:
    query = tree.expression if isinstance(tree, exp.DDL) else tree
    is_marked = any(cte.args.get("materialized") for cte in find_nodes(tree, exp.CTE))
    names = [*_SETTINGS, *([_MATERIALIZE_SETTING] if is_marked else [])]
    query.set("settings", [exp.EQ(this=exp.var(name), expression=sql_literal(1)) for name in names])


def _read_numbers(_: exp.Expr, series: exp.Unnest) -> None:
    """Read the function ``numbers``, whose unsigned integers have no common type with others."""
    first, last = read_bounds(series)
    select: Any = series.parent_select
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        number: exp.Expr = exp.cast(column.copy(), "INT")
        column.replace(number.as_(NUMBER) if column.parent is select else number)
    function = call_function(
        "numbers", exp.Literal.number(first), exp.Literal.number(last - first + 1)
    )
    series.replace(exp.Table(this=function, alias=exp.TableAlias(this=exp.to_identifier(SERIES))))


def _read_bytes(digits: exp.Expr) -> exp.Expr:
    """Return the number as an integer of the reversed bytes, since the first byte is the lowest."""
    number = digits
    for function in ("unhex", "reverse", "reinterpretAsUInt32"):
        number = call_function(function, number)
    return exp.cast(number, BIGINT)


def _write_quantile(value: exp.Expr, share: exp.Expr) -> exp.Expr:
    return exp.ParameterizedAgg(this="quantileExactInclusive", expressions=[share], params=[value])


def _join_subscripts(join: ListJoin) -> None:
    """Multiply rows by the positions of lists, and look the elements up."""
    position = exp.column(join.position)
    join.replace(
        join.position, exp.cast(position.copy(), "INT")
    )  # unsigned integers have no common type with others
    join.replace(
        join.element, exp.Bracket(this=exp.column(_LIST), expressions=[position], offset=1)
    )
    numbers = call_function("arrayEnumerate", join.values.copy())
    join.read_from({_LIST: join.values.copy(), join.position: call_function("arrayJoin", numbers)})


def _extract_words(text: exp.Expr) -> exp.Expr:
    """Return the words of a text, in lower case in all alphabets; those of NULL are none."""
    text = call_function("COALESCE", call_function("lowerUTF8", text.this), sql_literal(""))
    return call_function("extractAll", text, sql_literal(r"[\p{L}\p{N}]+"))


def _join_words(values: exp.Expr, start: exp.Expr, length: exp.Expr) -> exp.Expr:
    if not isinstance(length, exp.Literal):  # a parameter of a view is a double
        length = exp.cast(length, "INT")
    words = call_function("arraySlice", values, start, length)
    return call_function("arrayStringConcat", words, sql_literal(" "))


def _map_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
    """Return the map of a lambda, whose second parameter is an element of a second array."""
    positions = (
        [call_function("arrayEnumerate", array.copy())] if len(function.expressions) > 1 else []
    )
    return call_function("arrayMap", function, array, *positions)


def _list_integers(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    return call_function(
        "range",
        call_function("toUInt32", start),
        call_function("toUInt32", plus_one(exp.paren(end))),
    )


DIALECT = Dialect(
    label="ClickHouse",
    sqlglot_name="clickhouse",
    drivers=("chdb", "clickhouse_connect", "clickhouse_driver"),
    write_list_elements=_join_subscripts,
    write_quantile=_write_quantile,
    write_series=_read_numbers,
    write_hex_number=_read_bytes,
    write_words=_extract_words,
    join_words=_join_words,
    prepare=_prepare_tree,
    finish=_add_settings,
    # Older sqlglot writes leadInFrame, which sees no row after the current one
    function_names={exp.Lead: "lead", exp.Lag: "lag"},
    composing_function="normalizeUTF8NFC",
    character="UNHEX('{bytes}')",
    nan_function="isNaN",
    map_functions=("mapKeys", "mapValues"),
    table_properties=exp.Properties(
        expressions=[
            exp.EngineProperty(this=exp.to_identifier("MergeTree")),
            exp.Order(expressions=[exp.Ordered(this=exp.Anonymous(this="tuple"))]),
        ]
    ),
    name_after_in="bracketed_table",
    supports_from_first=True,
    int_division_is_double=True,
    decimal_literals_are_double=True,
    distinguishes_zeros=True,
    materialization_query=exp.select("name")
    .from_("system.settings")
    .where(f"name = '{_MATERIALIZE_SETTING}'"),
    functions=FunctionForms(
        version="CREATE OR REPLACE FUNCTION {name} AS () -> {version}",
        group=("by", "name of the column of {inputs} to group by, '_table' for one group"),
        table=TableFunctionForm(
            create=("CREATE OR REPLACE VIEW {name} AS\n{query}\nCOMMENT {comment}",),
            drop="DROP VIEW IF EXISTS {name}",
            call="{name}({values})",
            source="merge(currentDatabase(), concat('^', {{{role}:String}}, '$'))",
            group="{{by:Identifier}}",
            parameter="{{{name}:Float64}}",
            passed="{name} = {value}",
        ),
        aggregate="CREATE OR REPLACE FUNCTION {name} AS ({names}) -> {expression}",
        list=("CREATE OR REPLACE FUNCTION {name} AS ({names}) -> {expression}",),
        list_operations={
            "transform": _map_elements,
            "filter": lambda array, function: call_function("arrayFilter", function, array),
            "slice": "arraySlice",
            "position": "indexOf",
            "distinct": "arrayDistinct",
            "sort": "arraySort",
            "min": lambda array: exp.Nullif(
                this=call_function("arrayMin", array), expression=sql_literal(0)
            ),  # 0 of an empty list
            "sum": "arraySum",
            "length": "length",
            "series": _list_integers,
        },
    ),
    supports_function_schemas=False,
    error_function="toInt64",
    error_function_converts=True,
    dbt_deletes_and_inserts=True,
)
