"""Snowflake; Databend, which reads its SQL, executes it in the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, TableFunctionForm
from sqlrank.rendering.dialect_forms import count_from_one, order_within_group
from sqlrank.sql_ast import call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from sqlrank.rendering.dialect_forms import ListJoin


def _flatten_elements(join: ListJoin) -> None:
    """Read the elements of lists, which are variants: ids become texts."""
    index = exp.column("index", table=join.alias)
    join.replace_brackets(lambda values, _: call_function("GET", values, index.copy()))
    count_from_one(join, index)
    join.replace(join.element, exp.cast(exp.column("value", table=join.alias), "VARCHAR"))
    call = call_function("FLATTEN", exp.Kwarg(this=exp.var("INPUT"), expression=join.values))
    join.join.set(
        "this", exp.Lateral(this=call, alias=exp.TableAlias(this=exp.to_identifier(join.alias)))
    )


def _split_words(text: exp.Expr) -> exp.Expr:
    """Return the words of a text, which other characters than letters and digits split."""
    words = call_function("REGEXP_REPLACE", text, sql_literal("[^[:alnum:]]+"), sql_literal(" "))
    return call_function(
        "SPLIT", exp.Nullif(this=exp.Trim(this=words), expression=sql_literal("")), sql_literal(" ")
    )


def _join_words(values: exp.Expr, start: exp.Expr, length: exp.Expr) -> exp.Expr:
    words = call_function("ARRAY_SLICE", values, start - 1, start + length - 1)
    return call_function("ARRAY_TO_STRING", words, sql_literal(" "))


def _finish_tree(tree: exp.Expr) -> None:
    """Search texts by POSITION, since Databend lacks CHARINDEX, and hide columns that the first
    part of a union selects again, since Databend takes both for one in all parts.
    """
    for union in find_nodes(tree, exp.Union):
        columns: set[exp.Expr] = set()
        for item in union.this.selects if isinstance(union.this, exp.Select) else ():
            value = item.unalias()
            if isinstance(value, exp.Column) and value in columns:
                hidden: exp.Expr = exp.Coalesce(this=value.copy(), expressions=[exp.null()])
                value.replace(hidden.as_(value.this) if item is value else hidden)
            columns.add(value)
    for search in find_nodes(tree, exp.StrPosition):
        search.replace(
            call_function("POSITION", exp.In(this=search.args["substr"], field=search.this))
        )


DIALECT = Dialect(
    label="Snowflake",
    sqlglot_name="snowflake",
    drivers=("snowflake",),
    write_list_elements=_flatten_elements,
    write_quantile=order_within_group,
    write_words=_split_words,
    join_words=_join_words,
    finish=_finish_tree,
    fold_identifier=str.upper,
    searches_from_items=True,
    supports_window_clause=False,
    distinguishes_zeros=True,
    supports_float32=False,
    is_distributed=True,
    supports_transactions=True,
    functions=FunctionForms(
        version="CREATE OR REPLACE FUNCTION {name}() RETURNS VARCHAR AS $$ {version} $$",
        version_arguments="()",  # functions are identified by types
        group=("by", "name of the column of {inputs} to group by"),
        table=TableFunctionForm(
            create=(
                "DROP PROCEDURE IF EXISTS {name}({other_types})",
                (
                    "CREATE OR REPLACE PROCEDURE {name}({arguments})\nRETURNS TABLE ({columns})"
                    "\nLANGUAGE SQL\nCOMMENT = {comment}\nAS $$\nDECLARE\n{declarations}"
                    "  found RESULTSET DEFAULT (\n{query}\n);\nBEGIN\n"
                    "  RETURN TABLE(found);\nEND\n$$"
                ),
            ),
            drop="DROP PROCEDURE IF EXISTS {name}({types})",
            types=("VARCHAR", "FLOAT", "VARCHAR", "BOOLEAN"),
            call="TABLE({name}({values}))",
            source="IDENTIFIER(:{role})",
            # IDENTIFIER takes a variable alone, and names a column also where no rows are grouped
            declaration="  {role}_group VARCHAR DEFAULT COALESCE(by, '{column}');\n",
            group="IFF(:by IS NULL, NULL, IDENTIFIER(:{role}_group))",
            parameter=":{name}",
            argument="{role} VARCHAR",
            number="{name} FLOAT{default}",
            default=" DEFAULT {value}",
            group_argument="by VARCHAR DEFAULT NULL",
            checks_argument="checks BOOLEAN DEFAULT TRUE",
            text_type="VARCHAR",
            number_type="FLOAT",
        ),
    ),
    has_dbt_macros=True,
    dbt_deletes_and_inserts=True,
    dbt_microbatch="",
)
