"""Collect the CTEs of a statement under free names, with keys and comments, prune unused ones, and
write them in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.row_keys import GROUP_ID, LIST_ID, QUERY_ID, KeyColumns, KeysByName, name_keys
from sqlrank.optimizer.optimizer import drop_empty_ctes, prune_query
from sqlrank.registry.query_templates import append_source, describe_rows, name_keys_of_rows
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN
from sqlrank.sql_ast import find_nodes, first_select, query_text
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sqlrank.compiler.layout import GroupingLayout
    from sqlrank.registry.sql_file import SqlFile


@dataclass(eq=False, slots=True)
class Cte:
    """A CTE of a statement.

    Attributes:
        name: Name in the statement.
        query: Query of the rows; columns may be added to it until the statement is written.
        rows: Sentence on the rows, with the columns that identify them, without a full stop.
        keys: Columns that identify groups, lists and units.
        file: File of the relation, None for inputs and aggregates.
        materialize: True to compute it once, False for inputs, which only rename and filter, None
            to leave it to the engine.
        is_aggregate: It aggregates relations or other aggregates, and comes after all relations.
        source: Name of its file or table in the comment.
    """

    name: str
    query: exp.Query
    rows: str
    keys: KeysByName
    file: SqlFile | None = None
    materialize: bool | None = None
    is_aggregate: bool = False
    source: str = ""

    @property
    def comment(self) -> str:
        """The comment above its query: its rows and source."""
        return append_source(self.rows, self.source)


class CteList:
    """The CTEs of a statement, in the order in which they are written: inputs and relations, then
    aggregates.

    Attributes:
        shape: Group-by layout of the statement.
        taken: Names of tables of the user.
        result_key: Columns that identify the rows of aggregates, unless they are added with a key
            of their own.
    """

    def __init__(self, shape: GroupingLayout, taken: Collection[str] = ()) -> None:
        self.shape = shape
        self.taken = taken
        self.result_key = KeyColumns()
        self._ctes: dict[str, Cte] = {}

    def __getitem__(self, name: str) -> Cte:
        return self._ctes[name]

    def __iter__(self) -> Iterator[Cte]:
        return iter(sorted(self._ctes.values(), key=lambda cte: cte.is_aggregate))

    def free_name(self, name: str) -> str:
        """Return a name that no other CTE or table of the user has."""
        return unique_name(name, {*self._ctes, *self.taken})

    def add(
        self,
        name: str,
        query: exp.Query,
        rows: str,
        keys: KeysByName,
        source: str = "",
        file: SqlFile | None = None,
        materialize: bool | None = None,
    ) -> str:
        """Add an input or relation and return its name.

        ``rows`` says what its rows are, ``source`` names its file or table; both make its comment.
        """
        rows = self._name_keys(query, rows, keys, source)
        return self._store_cte(
            Cte(self.free_name(name), query, rows, keys, file, materialize, source=source)
        )

    def add_aggregate(
        self,
        name: str,
        query: exp.Query,
        rows: str,
        key: KeyColumns | None = None,
        materialize: bool | None = None,
    ) -> str:
        """Add an aggregate and return its name.

        ``rows`` says what its rows are, ``key`` has the columns that identify them.
        """
        lists = KeyColumns((LIST_ID,))
        keys = {
            GROUP_ID: self.result_key if key is None else key,
            LIST_ID: lists.with_cutoff() if self.result_key.has_cutoff else lists,
        }
        rows = self._name_keys(query, rows, keys)
        return self._store_cte(
            Cte(self.free_name(name), query, rows, keys, materialize=materialize, is_aggregate=True)
        )

    def _store_cte(self, cte: Cte) -> str:
        self._ctes[cte.name] = cte
        return cte.name

    def _name_keys(self, query: exp.Query, rows: str, keys: KeysByName, source: str = "") -> str:
        """Return the sentence on the rows of a CTE with the names of its keys, and complete the
        comments of its subqueries in place.
        """
        names = {
            word: self._list_key_names(word, keys[key])
            for word, key in (("group", GROUP_ID), ("list", LIST_ID))
            if key in keys
        }
        # A subquery may have more keys than what is made of it.
        names_below = {
            "group": name_keys(self.shape.group_names),
            "list": name_keys([*self.shape.list_columns, QUERY_ID]),
            **names,
        }
        for select in find_nodes(query, exp.Select):
            if select.comments:
                select.comments = [describe_rows(" ".join(select.comments), keys=names_below)]
        return name_keys_of_rows(rows, source, names)

    def _list_key_names(self, word: str, key: KeyColumns) -> Sequence[str]:
        """Return the names of key columns; lists have the columns that identify them instead of
        their number or copies of these columns.
        """
        copies = {LIST_ID, *(f"list_{name}" for name in self.shape.list_columns if word == "list")}
        if not copies & set(key.columns):
            return name_keys(key.columns)
        return name_keys(
            [*self.shape.list_columns, QUERY_ID, *([CUTOFF_COLUMN] if key.has_cutoff else [])]
        )

    def write_before(self, body: exp.Select, keep_unused: bool = False) -> exp.Select:
        """Return a statement: the CTEs with comments before its last SELECT.

        Unused columns, joins and CTEs are pruned, unless ``keep_unused``.
        """
        statement = body
        for cte in self:
            first_select(cte.query).comments = [cte.comment]
            materialized = (
                _reads_user_query(cte.query) if cte.materialize is False else cte.materialize
            )
            statement = statement.with_(
                cte.name, as_=cte.query, materialized=materialized, copy=False
            )
        if keep_unused:
            drop_empty_ctes(statement)
        else:
            prune_query(statement)
        return statement


def _reads_user_query(query: exp.Query) -> bool:
    """Return True if an input computes a query of the user, which is then computed once."""
    texts = (query_text(source) for source in find_nodes(query, exp.Subquery))
    return any(text is not None and not text.is_selection for text in texts)
