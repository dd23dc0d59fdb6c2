"""T-SQL of SQL Server 2022, Azure SQL and Microsoft Fabric, which nothing executes in the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.rendering.dialect import Dialect
from sqlrank.rendering.number_rewrites import DoubleInference
from sqlrank.sql_ast import BIGINT, call_function, case_when, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESERVED_WORDS = """
add all alter and any as asc authorization backup begin between break browse bulk by cascade case
check checkpoint close clustered coalesce collate column commit compute constraint contains
containstable continue convert create cross current current_date current_time current_timestamp
current_user cursor database dbcc deallocate declare default delete deny desc disk distinct
distributed double drop dump else end errlvl escape except exec execute exists exit external fetch
file fillfactor for foreign freetext freetexttable from full function goto grant group having
holdlock identity identity_insert identitycol if in index inner insert intersect into is join key
kill left like lineno load merge national nocheck nonclustered not null nullif of off offsets on
open opendatasource openquery openrowset openxml option or order outer over percent pivot plan
precision primary print proc procedure public raiserror read readtext reconfigure references
replication restore restrict return revert revoke right rollback rowcount rowguidcol rule save
schema securityaudit select semantickeyphrasetable semanticsimilaritydetailstable
semanticsimilaritytable session_user set setuser shutdown some statistics system_user table
tablesample textsize then to top tran transaction trigger truncate try_convert tsequal union unique
unpivot update updatetext use user values varying view waitfor when where while with within
writetext
"""
"""Reserved keywords, of the page "Reserved keywords (Transact-SQL)" of Microsoft."""


def _prepare_tree(tree: exp.Expr) -> None:
    """Hash texts to hexadecimal digits."""
    for digest in find_nodes(tree, exp.MD5):
        hashed = call_function("HASHBYTES", sql_literal("MD5"), digest.this)
        digest.replace(
            exp.Lower(this=call_function("CONVERT", exp.var("VARCHAR(32)"), hashed, sql_literal(2)))
        )


def _finish_tree(tree: exp.Expr) -> None:
    """Sum integers as those of 64 bits, since a sum of 32 bits overflows, and write conditions and
    casts to text as SQL Server reads them.

    Raises:
        MetricError: A view is to be made in another database.
    """
    if isinstance(tree, exp.Create) and tree.kind == "VIEW" and tree.this.catalog:
        name = tree.this.sql("tsql")
        raise MetricError(
            f"{name}: CREATE VIEW of SQL Server takes no database. Name the schema and the view,"
            " and run the statement there"
        )
    doubles = DoubleInference(DIALECT)
    doubles.annotate(tree)
    for total in find_nodes(tree, exp.Sum):
        if not doubles.is_double(total.this):
            total.set("this", exp.cast(total.this, BIGINT))
    for cast in find_nodes(tree, exp.Cast):
        if cast.is_type("TEXT", "VARCHAR") and not cast.to.expressions:
            # Without a length, 30 characters are left, and without N, no letter of another
            # alphabet. Hashes are of the bytes of VARCHAR.
            is_hashed = isinstance(cast.find_ancestor(exp.Anonymous, exp.Select), exp.Anonymous)
            cast.set(
                "to",
                exp.DataType.build(
                    "VARCHAR(8000)" if is_hashed else "NVARCHAR(4000)", dialect="tsql"
                ),
            )
    for select in find_nodes(tree, exp.Select):
        for item in select.expressions:
            value = item.unalias()
            if isinstance(value, (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)):
                value.replace(case_when(value.copy(), 1, 0))


def _concatenate_texts(texts: Sequence[str]) -> str:
    return " + ".join(texts)


DIALECT = Dialect(
    label="SQL Server",
    sqlglot_name="tsql",
    aliases=("sqlserver", "mssql", "fabric"),
    write_list_elements=None,
    prepare=_prepare_tree,
    has_nan=False,
    finish=_finish_tree,
    function_names={exp.Ln: "LOG"},
    character="NCHAR({code})",
    join_texts=_concatenate_texts,
    infinity="1.7976931348623157e308",
    reserved_words=frozenset(_RESERVED_WORDS.split()),
    supports_window_clause=False,  # SQL Server has it at compatibility level 160, Fabric not
    exponent_literals_are_double=True,
    supports_float32=False,
    supports_create_or_replace_table=False,
    supports_transactions=True,
)
