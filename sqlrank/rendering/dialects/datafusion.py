"""DataFusion, which reads the SQL of PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect
from sqlrank.rendering.dialect_forms import split_at_blanks
from sqlrank.sql_ast import call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from sqlrank.rendering.dialect_forms import ListJoin


def _finish_tree(tree: exp.Expr) -> None:
    """Hide functions in the order of windows and keys of groups that are not in the result, and put
    comparisons of NULL in parentheses.

    DataFusion takes the order of EXP(x) and LN(x) for that of x, and then refuses the plan; it
    leaves out keys that it takes for functions of others, which they are not in every tree;
    AND binds before IS NOT DISTINCT FROM.
    """
    for window in find_nodes(tree, exp.Window):
        for term in window.args["order"].expressions if window.args.get("order") else ():
            if term.find(exp.Exp, exp.Ln):
                term.set("this", exp.Coalesce(this=term.this, expressions=[exp.null()]))
    for group in find_nodes(tree, exp.Group):
        select: Any = group.parent
        read = {node.name for item in select.expressions for node in find_nodes(item, exp.Column)}
        for key in group.expressions:
            if isinstance(key, exp.Column) and key.name not in read:
                key.replace(exp.Coalesce(this=key.copy(), expressions=[exp.null()]))
    for equality in find_nodes(tree, exp.NullSafeEQ):
        if isinstance(equality.parent, exp.And):
            equality.replace(exp.paren(equality.copy()))


def _select_ranges(join: ListJoin) -> None:
    """Unnest the list and the range of its positions side by side, which DataFusion does in the
    SELECT list only.
    """
    length = exp.cast(call_function("ARRAY_LENGTH", join.values.copy()), "BIGINT")
    positions = call_function(
        "RANGE", sql_literal(1), exp.Add(this=length, expression=sql_literal(1))
    )
    elements = {join.element: join.values.copy(), join.position: positions}
    join.read_from({name: call_function("UNNEST", value) for name, value in elements.items()})


DIALECT = Dialect(
    label="DataFusion",
    sqlglot_name="postgres",
    drivers=("datafusion",),
    write_list_elements=_select_ranges,
    finish=_finish_tree,
    write_words=split_at_blanks(r"[^\p{L}\p{N}]+"),
    nan_function="ISNAN",
    fold_identifier=str.lower,
    distinguishes_zeros=True,
    supports_delete=False,
)
