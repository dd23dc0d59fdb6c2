"""What an expression holds where only the first documents of each list are read, beside what it holds where all are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIST_KEYS = {"list_id", "group_id", "query_id"}
"""Keys that do not tell documents of one list apart."""

NO_RANK = 2_147_483_646
"""What files put in the place of a rank that is NULL, at least: more than any list is long."""


class Same(Enum):
    """How a column compares with itself, row by row, where the documents below the first K of a list are not read.

    Some rows are *kept*: those of the documents whose score is one of the K greatest, or tied with the last of these.
    """

    ALWAYS = "the same in every row"
    SCORE = "the same, and what documents are kept by, greatest first"
    PLACE = "the same in kept rows; in others above K and above what all kept ones have; never NULL"
    RANK = "as PLACE, or NULL in rows that are not kept"
    KEPT = "the same in kept rows"
    LENGTH = "how many documents a list has: the same up to K"
    LOST = "not known to be the same"


OF_KEPT = {Same.PLACE, Same.RANK, Same.KEPT}


@dataclass(frozen=True)
class Rows:
    """The rows of a source: the classes of its columns (None: all are the same), and the numbers that some of them always are.

    ``whole`` says that no row is missing; ``solid`` that a list with any rows has kept ones.
    """

    whole: bool = True
    solid: bool = True
    columns: Mapping[str, Same] | None = None
    numbers: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def tells(self) -> bool:
        """Whether rows are kept or not, so that it matters which source of a join says so."""
        return not self.whole or bool(OF_KEPT & set((self.columns or {}).values()))

    def having(self, changes: Mapping[Same, Same]) -> Rows:
        """Return the same rows with other classes of columns."""
        columns = None if self.columns is None else {name: changes.get(found, found) for name, found in self.columns.items()}
        return replace(self, columns=columns)

    def of(self, name: str) -> Same:
        """Return the class of a column."""
        return Same.ALWAYS if self.columns is None else self.columns.get(name, Same.LOST)


def worst(classes: Iterable[Same]) -> Same:
    """Return the class of what is computed, row by row, from columns of these classes."""
    found = set(classes)
    if found & {Same.LOST, Same.LENGTH}:
        return Same.LOST
    return Same.KEPT if found & OF_KEPT else Same.ALWAYS


class Values:
    """The classes of expressions over the sources of one SELECT, if the first ``first`` documents of a list are read.

    ``seen`` gets the numbers that ranks and lengths are compared with.
    """

    def __init__(self, sources: Mapping[str, Rows], first: int, seen: set[int]) -> None:
        self.sources = sources
        self.first = first
        self.seen = seen

    def column(self, node: exp.Column) -> Same:
        """Return the class of a column of one of the sources."""
        if node.table:
            return self.sources[node.table].of(node.name) if node.table in self.sources else Same.LOST
        holders = [rows for rows in self.sources.values() if rows.columns is None or node.name in rows.columns]
        return holders[0].of(node.name) if len(holders) == 1 else Same.LOST

    @property
    def has_scores(self) -> bool:
        """Whether rows are those of the lists themselves, with what documents are kept by."""
        return any(Same.SCORE in (rows.columns or {}).values() for rows in self.sources.values())

    def of(self, node: exp.Expr, kept: bool = False) -> Same:
        """Return the class of an expression; ``kept`` says that it is looked at in kept rows alone."""
        if isinstance(node, exp.Column):
            found = self.column(node)
            return Same.ALWAYS if kept and found in OF_KEPT else found
        if isinstance(node, exp.Paren):
            return self.of(node.this, kept)
        if isinstance(node, exp.Case):
            return self._case(node, kept)
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, exp.Query):
            return Same.LOST
        return worst(self.of(part, kept) for part in _parts(node))

    def within(self, node: exp.Expr) -> bool:
        """Whether a condition holds in kept rows alone, since a rank is at most a number that is no more than K."""
        node = node.unnest()
        if isinstance(node, exp.And):
            return self.within(node.this) or self.within(node.expression)
        return isinstance(node, (exp.LTE, exp.LT, exp.EQ)) and self._is_rank(node.this) and self._is_read(node.expression)

    def has_rank(self, node: exp.Expr) -> bool:
        """Whether a condition holds where there is a rank, or where it is at most any number."""
        if isinstance(node, exp.Not) and is_null(node.this.unnest()):
            return self._is_rank(node.this.unnest().this)
        return isinstance(node, exp.LTE) and self._is_rank(node.this) and _whole(node.expression) is not None

    def beyond(self, node: exp.Expr) -> bool:
        """Whether a condition holds in all rows that are not kept, and the same of those that are: a rank is more than such a number, or NULL."""
        node = node.unnest()
        if isinstance(node, exp.Or):
            sides = [node.this.unnest(), node.expression.unnest()]
            above = next((side for side in sides if isinstance(side, exp.GT)), None)
            null = next((side for side in sides if is_null(side)), None)
            is_one = above is not None and null is not None and above.this == null.this
            return is_one and self._is_rank(above.this) and self._is_read(above.expression)  # type: ignore[union-attr]
        return isinstance(node, exp.GT) and self.of(node.this) is Same.PLACE and self._is_read(node.expression)

    def holds(self, node: exp.Expr, kept: bool = False) -> bool:
        """Whether a condition is true of the same rows."""
        node = node.unnest()
        if isinstance(node, exp.And):
            inner = kept or self.within(node)
            return all(self.within(side) or self.holds(side, inner) for side in (node.this, node.expression))
        if self.within(node) or self.beyond(node):
            return True
        if isinstance(node, exp.Or):
            return self.holds(node.this, kept) and self.holds(node.expression, kept)
        return worst([self.of(node, kept)]) is Same.ALWAYS

    def neutral(self, node: exp.Expr) -> exp.Expr | None:
        """Return what an expression is in all rows that are not kept, NULL or a number; None if that is not known."""
        node = node.unnest()
        if not isinstance(node, exp.Case) or not all(self.within(branch.this) for branch in node.args["ifs"]):
            return None
        left = node.args.get("default") or exp.Null()
        return left if isinstance(left, (exp.Null, exp.Literal)) else None

    def _is_rank(self, node: exp.Expr) -> bool:
        return self.of(node) in {Same.RANK, Same.PLACE}

    def _is_read(self, node: exp.Expr) -> bool:
        """Whether a number is no more than K; it is noted as one that K could be."""
        number = _whole(node)
        if number is None:
            return False
        self.seen.add(number)
        return number <= self.first

    def _case(self, node: exp.Case, kept: bool) -> Same:
        branches = node.args["ifs"]
        default = node.args.get("default") or exp.Null()
        if node.this is not None:
            return worst(self.of(part, kept) for part in _parts(node))
        if len(branches) == 1 and (found := self._of_form(branches[0], default)):
            return found
        classes = []
        for branch in branches:
            if self.holds(branch.this, kept):
                classes.append(self.of(branch.args["true"], kept or self.within(branch.this)))
                kept = kept or self.beyond(branch.this)
            else:
                classes += [self.of(branch.this, kept), self.of(branch.args["true"], kept)]
        return worst([*classes, self.of(default, kept)])

    def _of_form(self, branch: exp.If, default: exp.Expr) -> Same | None:
        """Return the class of a rank with a number for NULL, and of a length that is cut at a number."""
        condition, value = branch.this.unnest(), branch.args["true"]
        if is_null(condition) and condition.this == default and self._is_rank(default):
            return Same.PLACE if (_whole(value) or 0) >= NO_RANK else None
        if isinstance(condition, (exp.GT, exp.LT)) and self.of(condition.this) is Same.LENGTH:
            cut = (condition.expression, condition.this) if isinstance(condition, exp.GT) else (condition.this, condition.expression)
            return Same.ALWAYS if cut == (value, default) and self._is_read(condition.expression) else Same.LOST
        return None

    def _window(self, node: exp.Window) -> Same:
        function, frame = node.this, node.args.get("spec")
        within = node.args.get("partition_by") or []
        ordered = node.args["order"].expressions if node.args.get("order") else []
        order = [item.this for item in ordered]
        is_downward = bool(ordered and ordered[0].args.get("desc"))
        if any(worst([self.of(part)]) is not Same.ALWAYS for part in [*within, *order[1:]]):
            return Same.LOST
        names = {part.name for part in within if isinstance(part, exp.Column)}
        counts = isinstance(function, (exp.RowNumber, exp.Rank, exp.Count)) and (
            isinstance(function.this, exp.Star) or function.this is None
        )
        if counts and frame is None and names == {"list_id"} and len(within) == 1 and self.has_scores:
            if not order:
                return Same.LENGTH
            if self.of(order[0]) is Same.SCORE and is_downward:
                return Same.PLACE
        read = worst(self.of(part) for part in _parts(function))
        if order and self.of(order[0]) is Same.PLACE and not is_downward and "list_id" in names and _looks_back(function, frame):
            return Same.LOST if read is Same.LOST else Same.KEPT
        is_whole = all(rows.whole for rows in self.sources.values())
        is_same = not order or worst([self.of(order[0])]) is Same.ALWAYS
        return Same.ALWAYS if is_whole and is_same and read is Same.ALWAYS else Same.LOST


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the expressions that an expression is made of, without types and names."""
    values = (item for value in node.args.values() for item in (value if isinstance(value, list) else [value]))
    return [item for item in values if isinstance(item, exp.Expr) and not isinstance(item, (exp.DataType, exp.Identifier))]


def is_null(node: exp.Expr) -> bool:
    """Whether an expression asks for NULL."""
    return isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)


def _whole(node: exp.Expr) -> int | None:
    node = node.unnest()
    return int(node.this) if isinstance(node, exp.Literal) and node.is_number and str(node.this).isdigit() else None


def _looks_back(function: exp.Expr, frame: exp.Expr | None) -> bool:
    """Whether a function of a window reads the row itself and those before it, or fewer."""
    if not isinstance(function, (exp.RowNumber, exp.Rank, exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)):
        return False
    if frame is None:
        return True
    start, end, side = (frame.args.get(name) for name in ("start", "end", "end_side"))
    return start == "UNBOUNDED" and (end == "CURRENT ROW" or side == "PRECEDING")
