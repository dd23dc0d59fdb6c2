"""How lists are put into arrays, and looked up in them, by engines that say it in other words than the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from sqlrank.engines.dialects import Dialect

ENTRY, PLACE = "entry", "entry_place"


def write_arrays(tree: exp.Expr, target: Dialect) -> None:
    """Write, in place, arrays that have an order, and the places of what is in them, as the engine has them."""
    for made in nodes(tree, exp.ArrayAgg) if target.sorts_arrays else ():
        _sort(made)
    for found in nodes(tree, exp.ArrayPosition) if target.searches_by_rows else ():
        found.replace(_search(found.this, found.expression))


def _sort(made: exp.ArrayAgg) -> None:
    """Put what the order is by into structs, which are sorted, greatest first, and take from them what the array is of.

    By the field of the array, not by a lambda: what a lambda is applied to, Spark does not compile, the sort included.
    """
    order = made.this
    columns = [item.this for item in order.expressions]
    fields = [exp.PropertyEQ(this=column.this.copy(), expression=column) for column in columns]
    pairs = exp.ArrayAgg(this=exp.Struct(expressions=fields), nulls_excluded=True)
    ordered = exp.ArraySort(this=pairs, asc=exp.false(), nulls_first=exp.false())
    made.replace(exp.Dot(this=ordered, expression=order.this.this.copy()))


def _search(array: exp.Expr, sought: exp.Expr) -> exp.Expr:
    """Return the first place of a value in an array, counted from 1, as a query of its rows."""
    rows = exp.Unnest(expressions=[array], alias=exp.TableAlias(columns=[exp.to_identifier(ENTRY)]), offset=exp.to_identifier(PLACE))
    place = exp.Add(this=exp.Min(this=exp.column(PLACE)), expression=exp.Literal.number(1))
    return exp.select(place).from_(rows).where(exp.EQ(this=exp.column(ENTRY), expression=sought)).subquery()
