"""Define the columns of the logical keys ``list_id``, ``group_id`` and ``unit_id``: quote, compare
and name them in comments, and write them wherever a file has a key.

With ``by=["system"]`` a group is a system, and a list is a system's answer to a query. Wherever a
file selects, groups, partitions, orders or joins by a key, the compiler writes its columns: none,
one or many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.interval_options import REPLICATE_COLUMN
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, CUTOFF_PLACEHOLDER
from sqlrank.sql_ast import NEVER_NULL, case_when, find_nodes, is_null, quoted_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

GROUP_ID, LIST_ID, UNIT_ID = "group_id", "list_id", "unit_id"

COMPARED_ID, COMPONENT_ID = "compared_id", "component_id"
"""Keys of differences between groups: the groups that are compared, and the metric, if the
differences are of several.
"""

SINGLETON_IDS = ("unlabeled_record_id", "unplaced_record_id")
"""Columns with the record that is a cluster of its own, which statements have only under policies
by which there are such records: files of others have NULL.
"""

SCORE_NAME, QUERY_ID = "scored_by", "query_id"
"""Columns of the score name and of the query."""

SLICE_NUMBER = "slice_number"
"""Column with the number of the grouping that a repeated row counts in."""

NEVER_NULL_COLUMNS = {UNIT_ID, SLICE_NUMBER, SCORE_NAME, CUTOFF_COLUMN, REPLICATE_COLUMN}
"""Columns that are never NULL; units that are NULL have been rejected."""

INTERNAL_COLUMNS = {
    LIST_ID,
    UNIT_ID,
    SLICE_NUMBER,
    SCORE_NAME,
    QUERY_ID,
    CUTOFF_COLUMN,
    REPLICATE_COLUMN,
}


class UnquotedName(str):
    """An identifier written unquoted in the SQL files.

    It must stay unquoted, because Snowflake folds it to upper case.
    """

    __slots__ = ()


@dataclass(frozen=True)
class KeyColumns:
    """The columns of a logical key in a source.

    In ``nullable`` columns, NULL is a value of its own.
    """

    columns: tuple[str, ...] = ()
    nullable: bool = False

    @property
    def has_cutoff(self) -> bool:
        """True if the key contains the cut-off of a range."""
        return CUTOFF_COLUMN in self.columns

    @property
    def without_cutoff(self) -> tuple[str, ...]:
        """The columns without the cut-off."""
        return tuple(name for name in self.columns if name != CUTOFF_COLUMN)

    def with_cutoff(self) -> KeyColumns:
        """Return a copy that ends with the cut-off column."""
        return KeyColumns((*self.without_cutoff, CUTOFF_COLUMN), self.nullable)


KeysByName = dict[str, KeyColumns]
"""Keys of a source by logical name.

``unit_id`` has no columns if every row is a unit.
"""


_KEY_WORDS = {SLICE_NUMBER: "grouping", SCORE_NAME: "score", CUTOFF_COLUMN: "cut-off"}


def name_keys(columns: Iterable[str]) -> list[str]:
    """Return key columns as a comment names them: those of the user as they are, others in words.

    >>> name_keys(["campaign_id", QUERY_ID, SLICE_NUMBER])
    ['campaign_id', 'query', 'grouping']
    """
    return [
        " ".join(
            _KEY_WORDS.get(
                name,
                name.removesuffix("_id")
                if isinstance(name, UnquotedName) or name in INTERNAL_COLUMNS
                else name,
            ).split()
        )
        for name in columns
    ]


def key_column(name: str, table: str | None = None) -> exp.Column:
    """Return a key column, quoted if the user named it.

    Names in the SQL files are unquoted.
    """
    return (
        exp.column(str(name), table=table)
        if isinstance(name, UnquotedName) or name in INTERNAL_COLUMNS
        else quoted_column(name, table)
    )


def key_equalities(
    keys: Iterable[str], left_table: str, right_table: str, nullable: bool
) -> list[exp.Expr]:
    """Return the equality conditions of a key in two tables."""
    return [
        _compare_columns(
            key_column(name, left_table),
            key_column(name, right_table),
            nullable and name not in NEVER_NULL_COLUMNS,
        )
        for name in keys
    ]


def list_key_equalities(
    left_columns: Sequence[str],
    right_columns: Sequence[str],
    left_table: str,
    right_table: str,
    nullable: bool,
) -> list[exp.Expr]:
    """Return the equality conditions of a list key, whose last column is never NULL."""
    pairs = [
        (key_column(left_name, left_table), key_column(right_name, right_table))
        for left_name, right_name in zip(left_columns, right_columns, strict=True)
    ]
    return [_compare_columns(*pair, nullable and pair is not pairs[-1]) for pair in pairs]


def _compare_columns(left: exp.Column, right: exp.Column, nullable: bool) -> exp.Expr:
    # in parentheses, because DataFusion binds AND before IS NOT DISTINCT FROM
    return (
        exp.paren(exp.NullSafeEQ(this=left, expression=right))
        if nullable
        else never_null_equality(left, right)
    )


def never_null_equality(left: exp.Column, right: exp.Column) -> exp.EQ:
    """Return an equality of columns that are never NULL, marked so that passes of the optimizer
    know that no row is lost to a NULL.
    """
    equality = exp.EQ(this=left, expression=right)
    equality.meta[NEVER_NULL] = True
    return equality


def with_list_column(
    keys: Mapping[str, KeyColumns], selects: Iterable[str], column: str
) -> KeysByName:
    """Return the keys of a source in which each list is a group.

    The list column is added to the group key.
    """
    group = keys.get(GROUP_ID)
    if group is None or column in group.columns or column not in selects:
        return dict(keys)
    return {**keys, GROUP_ID: KeyColumns((*group.columns, column), group.nullable)}


@dataclass(frozen=True)
class ExpansionContext:
    """Keys and cut-off CTEs that the expansion of a query depends on.

    Attributes:
        find_keys: Returns the keys of a table by its name.
        lists: Columns that replace an alias ``list_id`` if lists are not numbered.
        cutoffs: CTE with one row per cut-off of a range.
        own_cutoffs: CTE with the cut-off of each list.
    """

    find_keys: Callable[[str], KeysByName]
    lists: KeyColumns | None = None
    cutoffs: str | None = None
    own_cutoffs: str | None = None

    def is_swept(self, query: exp.Query) -> bool:
        """Return True if a query's rows depend on the cut-off, directly or indirectly."""
        if self.cutoffs is None:
            return False
        sources = (self.find_keys(table.name) for table in find_nodes(query, exp.Table))
        return any(map(_is_cutoff_placeholder, find_nodes(query, exp.Column))) or any(
            key.has_cutoff for keys in sources for key in keys.values()
        )


def _is_cutoff_placeholder(column: exp.Column) -> bool:
    return column.table == CUTOFF_PLACEHOLDER


def expand_keys(query: exp.Query, context: ExpansionContext, is_swept: bool = False) -> KeysByName:
    """Replace logical keys by columns in place, and return the keys of the query's rows.

    A query that depends on the cut-off (or ``is_swept``) is joined with the cut-offs: it gets one
    row per cut-off, and every key ends with the cut-off column.

    >>> import sqlglot
    >>> context = ExpansionContext(lambda table: {"group_id": KeyColumns(("country", "day"))})
    >>> query = sqlglot.parse_one(
    ...     "SELECT group_id, score, SUM(weight) OVER (PARTITION BY group_id ORDER BY score) AS below FROM scores"
    ... )
    >>> expand_keys(query, context)
    {'group_id': KeyColumns(columns=('country', 'day'), nullable=False)}
    >>> print(query.sql())
    SELECT "country", "day", score, SUM(weight) OVER (PARTITION BY "country", "day" ORDER BY score) AS below FROM scores
    """  # noqa: E501
    if isinstance(query, exp.Union):
        is_swept = is_swept or context.is_swept(query)
        keys = expand_keys(query.left, context, is_swept)
        expand_keys(query.right, context, is_swept)
        return keys
    if not isinstance(query, exp.Select):
        raise TypeError(f"cannot expand keys in {type(query).__name__}")
    scope = _SelectScope(query, context, is_swept)
    for window in find_nodes(query, exp.Window):
        if window.parent_select is query:
            window.set(
                "partition_by", scope.expand_list(window.args.get("partition_by") or []) or None
            )
            _expand_window_order(window, scope)
    for join in query.args.get("joins") or []:
        scope.expand_join(join)
    if group := query.args.get("group"):
        columns = scope.expand_list(group.expressions)
        query.set("group", exp.Group(expressions=columns) if columns else None)
    return scope.expand_select(query)


class _SelectScope:
    """The sources of one SELECT with their keys."""

    def __init__(self, query: exp.Select, context: ExpansionContext, is_swept: bool) -> None:
        self.lists = context.lists
        self.sources: dict[str, KeysByName] = {}
        is_swept = is_swept or context.is_swept(query)
        for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
            if clause is not None:
                source = clause.this
                if isinstance(source, exp.Subquery):
                    self.sources[source.alias_or_name] = expand_keys(source.this, context)
                elif isinstance(source, exp.Table):
                    self.sources[source.alias_or_name] = context.find_keys(source.name)
                else:
                    self.sources[source.alias_or_name] = {}
        self.swept = self._resolve_cutoff_source(query, context) if is_swept else None
        if context.own_cutoffs is not None:
            self._look_up(query, context.own_cutoffs, context.find_keys(context.own_cutoffs))

    def _resolve_cutoff_source(self, query: exp.Select, context: ExpansionContext) -> str:
        """Return the source of the cut-off column: the first source, or the cross-joined
        cut-offs.
        """
        cutoff_source = next(iter(self.sources))
        if not self._is_swept(cutoff_source):
            cutoff_source = str(context.cutoffs)
            self.sources[cutoff_source] = {}
            query.set(
                "joins",
                [
                    exp.Join(this=exp.to_table(cutoff_source), kind="CROSS"),
                    *(query.args.get("joins") or []),
                ],
            )
        for column in find_nodes(query, exp.Column):
            if _is_cutoff_placeholder(column):
                column.replace(
                    exp.column(
                        CUTOFF_COLUMN, table=None if len(self.sources) == 1 else cutoff_source
                    )
                )
        return cutoff_source

    def _look_up(self, query: exp.Select, cutoffs_cte: str, keys: KeysByName) -> None:
        """Join the cut-off of each list, if the query references it.

        It is joined to the first source with lists.
        """
        placeholders = [
            column for column in find_nodes(query, exp.Column) if _is_cutoff_placeholder(column)
        ]
        if not placeholders:
            return
        source = next(alias for alias, keys in self.sources.items() if LIST_ID in keys)
        query.join(
            cutoffs_cte,
            on=exp.EQ(
                this=exp.column(LIST_ID, table=source),
                expression=exp.column(LIST_ID, table=cutoffs_cte),
            ),
            copy=False,
        )
        self.sources[cutoffs_cte] = keys
        for column in placeholders:
            column.replace(exp.column(CUTOFF_COLUMN, table=cutoffs_cte))

    def _is_swept(self, source: str) -> bool:
        return any(key.has_cutoff for key in self.sources[source].values())

    def find_key(self, node: exp.Column) -> KeyColumns:
        """Return the columns of a logical key in one source, or in all."""
        sources = [self.sources[node.table]] if node.table else list(self.sources.values())
        source_keys = [keys[node.name] for keys in sources if node.name in keys]
        columns = dict.fromkeys(column for key in source_keys for column in key.without_cutoff)
        key_columns = KeyColumns(tuple(columns), any(key.nullable for key in source_keys))
        return key_columns if self.swept is None else key_columns.with_cutoff()

    def find_columns(self, node: exp.Column) -> list[exp.Column]:
        """Return the columns of a logical key, each from the first source that has it."""
        if node.name in SINGLETON_IDS:
            return [node] if self.find_key(node).without_cutoff else []
        has_one_source = len(self.sources) == 1
        return [
            key_column(name, None if has_one_source else self._find_owner(node, name))
            for name in self.find_key(node).columns
        ]

    def _find_owner(self, node: exp.Column, column: str) -> str:
        if column == CUTOFF_COLUMN and self.swept is not None:
            return self.swept
        key_name = node.name
        return node.table or next(
            alias
            for alias, keys in self.sources.items()
            if key_name in keys and column in keys[key_name].columns
        )

    def expand_list(self, nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
        """Replace logical keys in a list of expressions by their columns, without duplicates."""
        terms = (
            term
            for node in nodes
            for term in (self.find_columns(node) if _is_key(node) else [node])  # type: ignore[arg-type]
        )
        return list(dict.fromkeys(terms))

    def expand_select(self, query: exp.Select) -> KeysByName:
        """Expand the logical keys in the SELECT list and return the keys of the result."""
        keys: KeysByName = {}
        columns: dict[str, exp.Expr] = {}
        for select_item in query.expressions:
            if (
                self.lists is not None
                and isinstance(select_item, exp.Alias)
                and select_item.alias == LIST_ID
            ):
                keys[LIST_ID] = self.lists
            elif _is_key(select_item):
                keys[select_item.name] = self.find_key(select_item)
                columns |= {
                    column.name: columns.get(column.name, column)
                    for column in self.find_columns(select_item)
                }
            else:
                columns.setdefault(select_item.alias_or_name, select_item)
        for name in (LIST_ID, *SINGLETON_IDS):
            if name in columns and isinstance(columns[name].unalias(), exp.Null):
                del columns[name]
            elif name in columns:
                keys.setdefault(name, KeyColumns((name,)))
        query.set("expressions", list(columns.values()))
        return keys

    def _key_equalities(self, left_column: exp.Column, right_column: exp.Column) -> list[exp.Expr]:
        """Return equality conditions for a logical key.

        Group keys compare their common columns; list keys have equally many columns everywhere and
        compare them pairwise.
        """
        left_key, right_key = self.find_key(left_column), self.find_key(right_column)
        nullable = left_key.nullable or right_key.nullable
        if left_column.name == LIST_ID:
            return list_key_equalities(
                left_key.without_cutoff,
                right_key.without_cutoff,
                left_column.table,
                right_column.table,
                nullable,
            )
        return key_equalities(
            [name for name in left_key.without_cutoff if name in right_key.without_cutoff],
            left_column.table,
            right_column.table,
            nullable,
        )

    def expand_join(self, join: exp.Join) -> None:
        """Expand the logical keys in a join condition; an empty condition becomes a cross join."""
        condition = join.args.get("on")
        alias = join.this.alias_or_name
        conjuncts: list[exp.Expr] = []
        if self.swept not in {None, alias} and self._is_swept(alias):
            conjuncts += key_equalities([CUTOFF_COLUMN], alias, str(self.swept), nullable=False)
        elif condition is None:
            return
        for conjunct in (
            condition.flatten(unnest=False)
            if isinstance(condition, exp.And)
            else filter(None, [condition])
        ):
            if (
                isinstance(conjunct, exp.EQ)
                and _is_key(conjunct.this)
                and _is_key(conjunct.expression)
            ):
                conjuncts += self._key_equalities(conjunct.this, conjunct.expression)
            elif isinstance(conjunct, exp.EQ) and all(
                isinstance(side, exp.Column) and side.name == QUERY_ID
                for side in conjunct.args.values()
            ):
                conjuncts += [never_null_equality(conjunct.this, conjunct.expression)]
            else:
                conjuncts.append(conjunct)
        conjuncts = list(dict.fromkeys(conjuncts))
        if conjuncts:
            join.set("on", exp.and_(*conjuncts, wrap=False))
            join.set("kind", None if condition is None else join.args.get("kind"))
        elif join.side:
            join.set("on", exp.true())
        else:
            join.set("on", None)
            join.set("kind", "CROSS")


def _expand_window_order(window: exp.Window, scope: _SelectScope) -> None:
    order = window.args.get("order")
    if order is None:
        return
    terms = []
    for term in order.expressions:
        columns: list[Any] = scope.find_columns(term.this) if _is_key(term.this) else [term.this]
        if (
            term.this.name == COMPARED_ID
        ):  # NULL is a group as any other, whose place engines do not agree on
            columns = [
                part
                for column in columns
                for part in (case_when(is_null(column.copy()), 0, 1), column)
            ]
        terms += [exp.Ordered(**{**term.args, "this": column.copy()}) for column in columns]
    if terms:
        order.set("expressions", list(dict.fromkeys(terms)))
    else:
        window.set("order", None)


def _is_key(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name in {
        GROUP_ID,
        LIST_ID,
        UNIT_ID,
        COMPARED_ID,
        COMPONENT_ID,
        *SINGLETON_IDS,
    }
