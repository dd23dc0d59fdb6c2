"""Render a tree or a statement as SQL text for a dialect, under its header comment, for the user
and for execution: rewritten by the forms that its record names, window frames named, and CTEs
materialized that several read or that would be repeated many times.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sqlglot import UnsupportedError, exp

from sqlrank._version import __version__
from sqlrank.errors import MetricError, escape_controls, join_words
from sqlrank.rendering.dialect_forms import ListJoin
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.formatter import LINE_WIDTH, format_tree
from sqlrank.rendering.number_rewrites import (
    HEX_PREFIX,
    SERIES,
    combine_digits,
    rewrite_nan_and_infinity,
    sum_hex_digits,
    sum_numbered_rows,
    write_numbers,
)
from sqlrank.rendering.optimizer.merging import lift_user_queries
from sqlrank.rendering.optimizer.optimizer import optimize_statement
from sqlrank.rendering.optimizer.statement_graph import keeps_rows, outermost_query
from sqlrank.rendering.window_partitions import join_totals, split_windows
from sqlrank.sql_ast import BIGINT, find_nodes, unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlrank.rendering.dialect import Dialect

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
    >>> tree = sqlglot.parse_one(
    ...     f"SELECT SUM(x) OVER {frame} AS a, COUNT(*) OVER {frame} AS b FROM t", read="duckdb"
    ... )
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
    named = [
        frame
        for frame, equal in windows_by_frame.items()
        if len(equal) > 1 or not isinstance(equal[0].parent, exp.Alias)
    ]
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
        " ".join(
            str(part.name if isinstance(part, exp.Expr) else part)
            for part in (spec[side], spec.get(f"{side}_side"))
            if part
        )
        for side in ("start", "end")
    )
    return _FRAME_NAMES.get((start, end), _OTHER_FRAME)


def _order_name(window: exp.Expr) -> str:
    """Return the name of the first column that a window sorts by, and of its direction."""
    term = window.args["order"].expressions[0]
    column = term.find(exp.Column)
    return f"{'rows' if column is None else column.name}{'_desc' if term.args.get('desc') else ''}"


def rewrite_for_dialect(
    tree: exp.Expr, dialect: str, statement_title: str = "this", can_materialize: bool = False
) -> exp.Expr:
    """Return a copy of a tree, rewritten for a dialect."""
    target = get_dialect(dialect)
    tree = tree.copy()
    optimize_statement(tree)
    if target.searches_from_items and (query := outermost_query(tree)) is not None:
        lift_user_queries(query)
    _rewrite_quantiles(tree, target)
    _rewrite_series(tree, target)
    _rewrite_hex_numbers(tree, target)
    _rewrite_words(tree, target)
    _rewrite_list_elements(tree, target, f"{statement_title} cannot be written for {dialect}")
    if target.write_window_bucket is not None:
        split_windows(tree, target.write_window_bucket)
        join_totals(tree)  # of the rows that are not in buckets
    materialize_shared_ctes(tree, target, can_materialize)
    if target.rewrite is not None:
        target.rewrite(tree)
    else:
        target.prepare(tree)
        rewrite_nan_and_infinity(tree, target)
        write_numbers(tree, target)
        _rewrite_window_order(tree, target)
        target.finish(tree)
    if target.supports_window_clause:
        name_frames(tree)
    for name in find_nodes(tree, exp.Identifier) if target.reserved_words else ():
        if name.name.lower() in target.reserved_words:
            name.set("quoted", True)  # noqa: FBT003  sqlglot's flag
    return tree


def _rewrite_quantiles(tree: exp.Expr, target: Dialect) -> None:
    quantiles = find_nodes(tree, exp.PercentileCont)
    if target.write_quantile is None:
        sum_numbered_rows(tree, quantiles)
        return
    for quantile in quantiles:  # engines demand a literal, without the cast of one
        if (
            rewritten := target.write_quantile(quantile.this, exp.var(quantile.expression.name))
        ) is not None:
            quantile.replace(rewritten)


def _rewrite_series(tree: exp.Expr, target: Dialect) -> None:
    write = target.write_series or combine_digits
    for series in find_nodes(tree, exp.Unnest):
        if series.alias == SERIES and isinstance(series.expressions[0], exp.GenerateSeries):
            write(tree, series)


def _rewrite_hex_numbers(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite ``CAST('0x' || digits AS BIGINT)`` in place, the number of eight hexadecimal digits
    in lower case.
    """
    write = target.write_hex_number or sum_hex_digits
    for cast in find_nodes(tree, exp.Cast):
        text = cast.this
        is_number = (
            isinstance(text, exp.DPipe)
            and text.this.is_string
            and text.this.name == HEX_PREFIX
            and cast.is_type(BIGINT)
        )
        if is_number and (number := write(text.expression)) is not None:
            cast.replace(number)


def _rewrite_words(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite the words of texts, and the texts of some elements of a list, in place."""
    if target.write_words is not None:
        for words in find_nodes(tree, exp.RegexpExtractAll):
            words.replace(target.write_words(words.this))
    if target.join_words is not None:
        for text in find_nodes(tree, exp.ArrayToString):
            (bounds,) = text.this.expressions
            length = bounds.expression.this.expression  # of [position:position + length - 1]
            text.replace(target.join_words(text.this.this, bounds.this, length))


def _rewrite_list_elements(tree: exp.Expr, target: Dialect, problem: str) -> None:
    """Rewrite the cross joins of list columns with their elements in place.

    Raises:
        MetricError: The dialect has none.
    """
    for join in [
        list_join
        for node in find_nodes(tree, exp.Join)
        if (list_join := ListJoin.read(node)) is not None
    ]:
        if target.write_list_elements is None:
            raise MetricError(
                f"{problem}, which has no UNNEST of lists with positions: make a table with a row "
                "per document of each list, and give it as run and qrels"
            )
        target.write_list_elements(join)


def _rewrite_window_order(tree: exp.Expr, target: Dialect) -> None:
    """Write the terms that windows sort by as the engine sorts them."""
    for window in find_nodes(tree, exp.Window):
        for term in window.args["order"].expressions if window.args.get("order") else ():
            # No file sorts by nullable expressions, and not every engine supports NULLS FIRST
            # there.
            term.set("nulls_first", target.default_nulls_first[bool(term.args.get("desc"))])


MOST_GROWTH, LEAST_GROWTH = 3, 500
"""Expressions of CTEs that a SELECT may have in place of their columns: so many times its own
nodes, or at least so many nodes.
"""


def materialize_shared_ctes(tree: exp.Expr, target: Dialect, can_materialize: bool) -> None:
    """Materialize costly CTEs with several readers on engines that would recompute them.

    CTEs of inputs are marked NOT MATERIALIZED, because they only rename and filter, and so are those
    that only such a CTE reads.

    >>> import sqlglot
    >>> from sqlrank.rendering.dialects import get_dialect
    >>> text = "WITH a AS MATERIALIZED (SELECT x FROM t), b AS MATERIALIZED (SELECT y FROM t) SELECT a.x FROM a, a AS c, b"
    >>> tree = sqlglot.parse_one(text, read="duckdb")
    >>> materialize_shared_ctes(tree, get_dialect("duckdb"), can_materialize=True)
    >>> print(tree.sql("duckdb"))
    WITH a AS MATERIALIZED (SELECT x FROM t), b AS (SELECT y FROM t) SELECT a.x FROM a, a AS c, b
    """  # noqa: E501
    with_clause = tree.find(exp.With)
    tables_read = Counter(table.name for table in find_nodes(tree, exp.Table))
    if with_clause is not None and target.repeats_expressions:
        _read_filtered_rows_in_place(with_clause)
    for cte, requested in _take_requests(with_clause, tables_read) if with_clause else ():
        if not requested and target.computes_ctes_once:
            cte.set("materialized", False)  # noqa: FBT003  sqlglot's flag
        elif requested and can_materialize:
            cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
        elif requested and target.write_materialized is not None:
            cte.set("this", target.write_materialized(cte.this))
    if with_clause is not None and (target.computes_ctes_once or target.write_fence):
        _materialize_before_growth(
            with_clause,
            {name for name, count in tables_read.items() if count == 1},
            target.repeats_expressions,
        )
        for cte in with_clause.expressions:
            if target.write_fence and cte.args.pop("materialized", None):
                target.write_fence(cte.this)


def _read_filtered_rows_in_place(with_clause: exp.With) -> None:
    """Let no CTE be stored that only filters rows: the planner would expect one in 200 of them to
    match in a join, whatever the statistics of the table say.
    """
    for cte in with_clause.expressions:
        if not isinstance(cte.this, exp.Select):  # such as a text of the caller
            continue
        columns = [item.unalias() for item in cte.this.selects]
        if keeps_rows(cte.this) and all(isinstance(column, exp.Column) for column in columns):
            cte.set("materialized", cte.args.get("materialized") or False)


def _take_requests(
    with_clause: exp.With, tables_read: Counter[str]
) -> Iterator[tuple[exp.CTE, bool]]:
    """Yield the CTEs with several readers of which their authors say if they are materialized, last
    first, without that mark; and those that such a CTE alone reads if it is not, since its readers
    would have their rows stored instead.
    """
    read_in_place: set[str] = set()
    for cte in reversed(with_clause.expressions):
        requested = cte.args.pop("materialized", None)
        if tables_read[cte.alias] == 1:
            if requested is None and cte.alias in read_in_place:
                yield cte, False
        elif requested is not None:
            if not requested:
                read_in_place |= {table.name for table in find_nodes(cte.this, exp.Table)}
            yield cte, requested


def _materialize_before_growth(
    with_clause: exp.With, read_once: set[str], repeats_expressions: bool
) -> None:
    """Materialize CTEs with one reader that repeats their expressions, where it would become many
    times as large by that.

    Engines put the expressions in place of the columns when they plan, and in a chain of such CTEs
    the plan grows exponentially. Rows that are summed are stored only where each sum would compute
    their expressions again.
    """
    sizes: dict[str, dict[str, int]] = {}
    ctes = {cte.alias: cte for cte in with_clause.expressions}
    for name, query in [
        *((name, cte.this) for name, cte in ctes.items()),
        ("", with_clause.parent),
    ]:
        if not isinstance(query, exp.Select) or find_nodes(query, exp.Window):
            continue
        is_aggregate = bool(find_nodes(query, exp.AggFunc))
        may_store = repeats_expressions or not is_aggregate
        while may_store and (grown := _find_growth(query, sizes)):
            ctes[grown].set("materialized", True)  # noqa: FBT003  sqlglot's flag
            sizes.pop(grown)
        if name and name in read_once and ctes[name].args.get("materialized") is None:
            inlined = {} if is_aggregate else sizes
            sizes[name] = {
                item.alias_or_name: sum(_count_nodes(item, query, inlined).values())
                for item in query.selects
            }


def _find_growth(query: exp.Select, sizes: Mapping[str, Mapping[str, int]]) -> str:
    """Return the CTE whose expressions add most to a query that they make too large, empty if they
    do not.
    """
    nodes = _count_nodes(query, query, sizes)
    num_own = nodes.pop("")
    most = max(nodes, key=nodes.__getitem__, default="")
    return most if nodes and sum(nodes.values()) > max(LEAST_GROWTH, MOST_GROWTH * num_own) else ""


def _count_nodes(
    tree: exp.Expr, query: exp.Select, sizes: Mapping[str, Mapping[str, int]]
) -> Counter[str]:
    """Return the number of nodes of a query or of one of its columns, and by CTE the number of
    those that replace its columns.
    """
    clauses = [query.args.get("from_"), *query.args.get("joins", [])]
    sources = {
        clause.this.alias_or_name: clause.this.name
        for clause in clauses
        if clause and clause.this.name in sizes
    }
    nodes = find_nodes(tree, exp.Expr)
    counts = Counter({"": len(nodes)})
    for column in nodes if sources else ():
        if isinstance(column, exp.Column):
            for alias, source in sources.items():
                if column.table in {alias, ""} and column.name in sizes[source]:
                    counts[source] += sizes[source][column.name]
    return counts


@dataclass(frozen=True)
class StatementHeader:
    """The header comment of a statement, of which the lines that apply are written.

    Attributes:
        title: Its contents, such as ``nDCG, AP``.
        row: What a row of the result is, such as ``one row per system``.
        reads: Its inputs, such as ``eval.run (run)``.
        settings: The settings that decide its numbers and are not the defaults, such as
            ``ties=rank``.
        time_zone: The time zone by which it reads times, empty if it reads none that depend on it,
            or the zone is not known.
        plan: Its plan, with the alternatives.
        notes: Further lines.
        command: The command that prints it, None if there is none.
    """

    title: str
    row: str = ""
    reads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    time_zone: str = ""
    plan: str = ""
    notes: tuple[str, ...] = ()
    command: str | None = None

    def keep_entries(self, is_kept: Callable[[str], bool]) -> StatementHeader:
        """Return the header without inputs, settings and a command that a condition excludes."""
        reads, settings = (tuple(filter(is_kept, texts)) for texts in (self.reads, self.settings))
        return replace(
            self,
            reads=reads,
            settings=settings,
            command=self.command if is_kept(self.command or "") else None,
        )

    def format_comments(self, dialect: str) -> str:
        """Return the header as comment lines."""
        parts = {
            f"sqlrank {__version__} for {get_dialect(dialect).label}": ", ".join(
                filter(None, (self.title, self.row))
            ),
            "reads": ", ".join(self.reads),
            "settings": ", ".join(
                [*self.settings, *([f"TimeZone={self.time_zone}"] if self.time_zone else [])]
            ),
            "plan": self.plan,
        }
        texts = [f"{name}: {text}" for name, text in parts.items() if text]
        lines = [
            f"-- {line}"
            for text in (*texts, *self.notes)
            for line in wrap(
                escape_controls(" ".join(text.splitlines())),
                LINE_WIDTH - len("-- "),
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        ]
        # A command is copied, and stays one line.
        command = " ".join((self.command or "").splitlines())
        lines += [f"-- made by: {escape_controls(command)}"] if command else []
        return "".join(f"{line}\n" for line in lines)


def row_phrase(keys: list[str]) -> str:
    """Return the words for a row of a result.

    >>> row_phrase([]), row_phrase(["campaign", "day"])
    ('one row', 'one row per campaign and day')
    """
    return f"one row per {join_words(keys)}" if keys else "one row"


@dataclass(frozen=True)
class RenderedStatement:
    """The text of a statement.

    Attributes:
        text: The statement in the user's notation.
        executable: The statement over temporary tables.
    """

    text: str
    executable: str


def render_statement(
    tree: exp.Expr, header: StatementHeader, dialect: str = "duckdb", can_materialize: bool = False
) -> str:
    """Render a statement as text under its header comment.

    ``can_materialize``: the engine can materialize CTEs.

    Raises:
        MetricError: The dialect does not support a construct; the message names metrics, construct
            and dialect.
    """
    return render_over_tables(tree, header, dialect, can_materialize).text


def render_over_tables(
    tree: exp.Expr,
    header: StatementHeader,
    dialect: str,
    can_materialize: bool,
    tables: Iterable[tuple[exp.Expr, exp.Expr]] = (),
) -> RenderedStatement:
    """Render a statement once, for the user and for execution.

    Each pair of ``tables`` is a FROM item in the user's notation, and the temporary table that is
    read instead.
    """
    rewritten = rewrite_for_dialect(tree, dialect, header.title, can_materialize)
    display, executable = _write_tree(rewritten, dialect, header.title, pretty=True, tables=tables)
    comment = header.format_comments(dialect)
    return RenderedStatement(comment + display, comment + executable)


def to_sql(
    tree: exp.Expr,
    dialect: str,
    statement_title: str = "this",
    pretty: bool = False,
    can_materialize: bool = False,
) -> str:
    """Render a tree as text.

    Raises:
        MetricError: The dialect does not support a construct; ``statement_title`` names its
            statement.
    """
    rewritten = rewrite_for_dialect(tree, dialect, statement_title, can_materialize)
    return _write_tree(rewritten, dialect, statement_title, pretty)[0]


def _write_tree(
    rewritten: exp.Expr,
    dialect: str,
    statement_title: str,
    pretty: bool,
    tables: Iterable[tuple[exp.Expr, exp.Expr]] = (),
) -> tuple[str, str]:
    try:
        return format_tree(rewritten, dialect, pretty, tables)
    except UnsupportedError as error:
        raise MetricError(f"{statement_title} cannot be written for {dialect}: {error}") from None
