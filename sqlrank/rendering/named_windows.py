"""Name window frames in the WINDOW clause of a SELECT, where they are repeated or part of another expression."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import find_nodes
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_FRAME_NAMES: Mapping[tuple[str, str], str] = {
    ("UNBOUNDED PRECEDING", "1 PRECEDING"): "preceding_rows",
    ("UNBOUNDED PRECEDING", "CURRENT ROW"): "rows_so_far",
    ("1 FOLLOWING", "UNBOUNDED FOLLOWING"): "following_rows",
}
"""Names of frames by their bounds."""

_OTHER_FRAME = "frame_rows"


def name_frames(tree: exp.Expr) -> None:
    """Name the frames that occur several times in a SELECT, or within another expression, in place.

    >>> import sqlglot
    >>> frame = "(ORDER BY y ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    >>> tree = sqlglot.parse_one(f"SELECT SUM(x) OVER {frame} AS a, COUNT(*) OVER {frame} AS b FROM t", read="duckdb")
    >>> name_frames(tree)
    >>> print(tree.sql("duckdb"))  # doctest: +NORMALIZE_WHITESPACE
    SELECT SUM(x) OVER preceding_rows AS a, COUNT(*) OVER preceding_rows AS b FROM t
    WINDOW preceding_rows AS (ORDER BY y ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    """
    windows_by_select: dict[int, list[exp.Window]] = {}
    for window in find_nodes(tree, exp.Window):
        if window.args.get("spec") is not None:
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in windows_by_select.values():
        _name_frames(windows)


def _name_frames(windows: list[exp.Window]) -> None:
    """Name frames of one SELECT."""
    select: Any = windows[0].parent_select
    windows_by_frame: dict[exp.Window, list[exp.Window]] = {}
    for window in windows:
        frame = window.copy()
        frame.set("this", None)
        frame.set("over", None)
        windows_by_frame.setdefault(frame, []).append(window)
    named = [frame for frame, equal in windows_by_frame.items() if len(equal) > 1 or not isinstance(equal[0].parent, exp.Alias)]
    counts = Counter(map(_bounds_name, named))
    taken: set[str] = set()
    for frame in named:
        name = _bounds_name(frame)
        name = unique_name(f"{name}_by_{_order_name(frame)}" if counts[name] > 1 else name, taken)
        taken.add(name)
        for window in windows_by_frame[frame]:
            window.replace(exp.Window(this=window.this, alias=exp.to_identifier(name), over="OVER"))
        frame.set("this", exp.to_identifier(name))
        select.append("windows", frame)


def _bounds_name(window: exp.Expr) -> str:
    """Return the name of a frame by its bounds."""
    spec = window.args["spec"].args
    start, end = (
        " ".join(str(part.name if isinstance(part, exp.Expr) else part) for part in (spec[side], spec.get(f"{side}_side")) if part)
        for side in ("start", "end")
    )
    return _FRAME_NAMES.get((start, end), _OTHER_FRAME)


def _order_name(window: exp.Expr) -> str:
    """Return the name of the first column that a window sorts by, and of its direction."""
    term = window.args["order"].expressions[0]
    column = term.find(exp.Column)
    return f"{'rows' if column is None else column.name}{'_desc' if term.args.get('desc') else ''}"
