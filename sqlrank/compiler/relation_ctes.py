"""Collect the CTEs of a statement under free names, pruned and in order, and add those of inputs
and of relations that metrics read, each once, and resolve the expressions of metrics over them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.layout import InputKey, InputQuery, InputVariant
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    LIST_ID,
    QUERY_ID,
    SCORE_NAME,
    UNIT_ID,
    ExpansionContext,
    KeyColumns,
    KeysByName,
    UnquotedName,
    expand_keys,
    key_column,
    name_keys,
    with_list_column,
)
from sqlrank.compiler.select_builders import (
    aliased_table,
    bind_parameters,
    inline_function,
    rename_ctes,
    select_columns,
    union_slices,
)
from sqlrank.registry.query_templates import (
    append_source,
    describe_rows,
    name_keys_of_rows,
    replace_column,
    substitute_cutoff,
)
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, find_dependencies
from sqlrank.registry.sql_file import RowsRead, SqlFile
from sqlrank.rendering.optimizer.optimizer import drop_empty_ctes, prune_query
from sqlrank.rendering.optimizer.statement_graph import keeps_rows
from sqlrank.sql_ast import (
    add_terms,
    case_when,
    find_nodes,
    first_select,
    query_text,
    unique_name,
    unqualified_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlrank.compiler.layout import GroupingLayout
    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


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
        """The comment above its query: its rows, the note of its file, and source."""
        note = self.file.annotations.get("Note", "") if self.file else ""
        return append_source(self.rows, self.source, note)


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
                select.comments = [describe_rows(" ".join(select.comments), names_below)]
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


_UNFILTERED_VARIANTS = (InputVariant.UNFILTERED_PER_SLICE, InputVariant.UNFILTERED)


class RelationCtes:
    """The CTEs of inputs and relations of one statement, in dependency order.

    A relation is identified by its tree after parameters and functions are bound: metrics whose
    relations have the same tree share a CTE. One instance per statement.
    """

    def __init__(
        self, library: Registry, sources: Mapping[InputKey, InputQuery], shape: GroupingLayout
    ) -> None:
        self.library = library
        self.sources = sources
        self.shape = shape
        self.inputs: dict[InputKey, str] = {}
        self.wide_score_ctes: dict[str, str] = {}
        self.cutoffs: str | None = None
        self.first_cutoff = 1
        self.own_cutoffs: str | None = None
        self.resample: Callable[[InputKey, str], str] | None = None
        self._names: dict[exp.Query, str] = {}
        self._built: dict[Any, str] = {}
        queries = (
            source.query
            for source in sources.values()
            if source.query is not None and source.reads_input is None
        )
        self.ctes = CteList(
            shape, {name for query in queries for name in unqualified_tables(query)}
        )

    def enable_cutoff_range(self, first: int, last: int) -> None:
        """Add a row per cut-off of a range to CTEs added later.

        Only CTEs that depend on the cut-off are affected.
        """
        self.cutoffs = self.add_relation("cutoffs", {"first_cutoff": first, "last_cutoff": last})
        self.first_cutoff = first

    def only_at_first_cutoff(self, cutoff: exp.Expr, value: exp.Expr) -> exp.Expr:
        """Return a value in the row of the first cut-off only, NULL in the others."""
        is_first = cutoff.eq(self.first_cutoff)
        return case_when(is_first, value).as_(value.name)

    def apply_function(
        self, slot: str, settings: Mapping[str, ParameterValue], *arguments: exp.Expr
    ) -> exp.Expr:
        """Return the body of the function that fills a slot, applied to arguments."""
        return inline_function(self.library, slot, list(arguments), settings)

    def metric_expression(self, metric: ResolvedMetric) -> exp.Expr:
        """Return the expression of a metric; for a list parameter, the mean over its numbers."""
        value = metric.file.tree.selects[-1].unalias()
        list_params = [param for param in metric.file.params.values() if param.type == "numbers"]
        if not list_params:
            return bind_parameters(self.library, value, metric.settings, metric.file.params)
        points = metric.settings[list_params[0].name]
        settings = (
            {**metric.settings, list_params[0].name: point}
            for point in (points if isinstance(points, tuple) else (points,))
        )
        expressions: list[exp.Expr] = [
            bind_parameters(self.library, value, point_settings, metric.file.params)
            for point_settings in settings
        ]
        total = add_terms(expressions)
        return exp.Div(this=exp.paren(total), expression=exp.Literal.number(len(expressions)))

    def unit_columns(self, cte: str) -> Sequence[str]:
        """Return the columns that identify units, none if each row is one."""
        return self.ctes[cte].keys.get(UNIT_ID, KeyColumns()).columns

    def find_keys(self, name: str, per_list: bool = False) -> KeysByName:
        """Return the keys of a CTE.

        ``per_list`` makes each list of a group its own group.
        """
        cte = self.ctes[name]
        if not per_list or (cte.file is not None and "group" in cte.file.scopes):
            return cte.keys
        return with_list_column(cte.keys, cte.query.named_selects, self._query_column(name))

    def _query_column(self, name: str) -> str:
        source = next(
            (self.sources[source] for source, cte in self.inputs.items() if cte == name), None
        )
        return source.query_column if source is not None else QUERY_ID

    def add_relation(
        self,
        name: str,
        settings: Mapping[str, ParameterValue],
        per_list: bool = False,
        rows: RowsRead = RowsRead.VALID,
    ) -> str:
        """Return the CTE of a relation or input, adding it and its dependencies.

        ``rows`` selects the rows of an input.
        """
        if name in self.library.roles:
            if (
                rows is RowsRead.VALID
                and (row_filter := self._row_filter(name, settings)) is not None
            ):
                return self.add_file(row_filter, settings, per_list)
            variants = [
                *(_UNFILTERED_VARIANTS if rows is RowsRead.UNFILTERED else ()),
                InputVariant.PER_SLICE,
                InputVariant.VALID,
            ]
            return self.add_input(
                next(
                    key for variant in variants if (key := InputKey(name, variant)) in self.sources
                )
            )
        file = self.library.find_relation(name, settings)
        per_list = per_list and "group" not in file.scopes
        selectors = {
            *self.library.selectors.get(name, ()),
            *self.library.selectors.get(file.name, ()),
        }
        relevant = sorted(find_dependencies(self.library, file, settings).settings | selectors)
        cache_key = (
            name,
            per_list,
            tuple((setting, settings.get(setting)) for setting in relevant),
        )
        if cache_key not in self._built:
            self._built[cache_key] = self.add_file(file, settings, per_list)
        return self._built[cache_key]

    def _row_filter(self, role: str, settings: Mapping[str, ParameterValue]) -> SqlFile | None:
        """Return the file that filters or merges the rows of an input, if any."""
        source = self.sources.get(InputKey(role))
        return self.library.row_filter(role, settings) or (
            self.library.relations[role, "deduplicated"]
            if source is not None and source.merges_rows
            else None
        )

    def add_input(self, key: InputKey) -> str:
        """Return the CTE of an input, adding it if necessary."""
        if key in self.inputs:
            return self.inputs[key]
        source = self.sources[key]
        source_ctes = {
            source_key.name: self.add_input(source_key)
            for source_key in (source.reads_input, *source.joins_inputs)
            if source_key is not None
        }
        if source.query is None:
            (self.inputs[key],) = source_ctes.values()
            return self.inputs[key]
        query = source.query.copy()
        rename_ctes(query, source_ctes)
        keys: KeysByName = {GROUP_ID: source.group}
        if source.has_lists and source.query_column in query.named_selects:
            keys[LIST_ID] = KeyColumns(
                (*source.group.columns, source.query_column), source.group.nullable
            )
        role = self.library.roles[key.role]
        if (
            unit := role.unit_column or role.query_column
        ) in query.named_selects and role.list_relation is None:
            keys[UNIT_ID] = KeyColumns((UnquotedName(unit),))
        cte = self.ctes.add(
            key.name if key.name not in self.ctes.taken else f"{key.name}_rows",
            query,
            source.rows,
            keys,
            source.table,
        )
        self.inputs[key] = cte if self.resample is None else self.resample(key, cte)
        if source.reads_input is None:
            self.ctes[self.inputs[key]].materialize = False
        return self.inputs[key]

    def add_file(
        self, file: SqlFile, settings: Mapping[str, ParameterValue], per_list: bool = False
    ) -> str:
        """Return the CTE of a relation or curve file, of its last step if it has several, adding it
        if necessary.
        """
        number, start = file.steps
        cte = self._add_query(file, settings, per_list, {})
        for _ in range(1, number):
            cte = self._add_query(file, settings, per_list, {start: cte})
        return cte

    def _add_query(
        self,
        file: SqlFile,
        settings: Mapping[str, ParameterValue],
        per_list: bool,
        replaced: Mapping[str, str],
    ) -> str:
        """Return the CTE of a file, adding it if necessary, which reads some CTEs in place of
        relations.
        """
        tree: Any = self._bind_file(file, settings)
        for table in find_nodes(tree, exp.Table):
            rows = RowsRead.WITH_DUPLICATES if table.name == file.name else file.rows_read
            cte = replaced.get(table.name) or self.add_relation(
                table.name, settings, per_list, rows
            )
            table.replace(aliased_table(cte, table.alias_or_name))
        lists = (
            KeyColumns((*self.shape.list_columns, QUERY_ID), nullable=True)
            if self.shape.lists_unnumbered
            else None
        )
        keys = expand_keys(
            tree,
            ExpansionContext(
                lambda name: self.find_keys(name, per_list), lists, self.cutoffs, self.own_cutoffs
            ),
        )
        if (
            "score" in file.scopes
            and (source := self.sources[InputKey(file.source_relation)]).scores
            and source.query is not None
            and source.reads_input is not None
        ):
            tree = self._windows_per_score(tree, source.reads_input, source.query.copy())
        if "system" in file.scopes:
            tree, keys = self._cross_with_systems(tree, keys)
        if "slice" in file.scopes and self.shape.grouping_sets is not None:
            tree, keys = union_slices(tree, keys, self.shape)
        if tree not in self._names:
            request = file.annotations.get("Materialize")
            materialize = None if request is None else not request.startswith("never")
            if materialize and self.resample is not None and keeps_rows(tree):
                materialize = False  # the rows of all replicates take more memory than time
            name, stem = file.name, file.path.stem
            if name in self.library.roles:  # as the input is named
                name = stem if stem == f"{name}_curve" else f"{stem}_{name}"
            self._names[tree] = self.ctes.add(
                name,
                tree,
                self.complete_comment(file.summary, file, settings),
                keys,
                file.source_name,
                file,
                materialize,
            )
        return self._names[tree]

    def _bind_file(self, file: SqlFile, settings: Mapping[str, ParameterValue]) -> exp.Query:
        """Return the tree of a file with its parameters bound, its comments complete, and the
        columns that metrics measure.
        """
        tree: Any = bind_parameters(self.library, file.tree, settings, file.params)
        if "For each" in file.annotations:
            measured = {key.role: source.measured for key, source in self.sources.items()}
            roles = [table.name for table in find_nodes(tree, exp.Table)]
            replace_column(
                tree,
                "measure",
                [exp.column(name, table=role) for role in roles for name in measured.get(role, ())],
            )
        _join_queries_by_group(tree)
        for select in find_nodes(tree, exp.Select):
            for item in (select, *select.expressions):
                item.comments = [
                    self.complete_comment(comment, file, settings)
                    for comment in item.comments or ()
                ]
        query: exp.Query = tree
        return query

    def complete_comment(
        self, sentence: str, file: SqlFile, settings: Mapping[str, ParameterValue]
    ) -> str:
        """Return a comment of a file with its cut-off for k, and for ``row of`` a relation what its
        rows are.
        """

        def describe_reference(reference: re.Match[str]) -> str:
            rows = self.library.find_relation(reference[1], settings).summary
            return rows.partition(":")[0].removeprefix("one row per ")

        cutoff = settings.get("k", file.params["k"].default if "k" in file.params else None)
        return substitute_cutoff(
            re.sub(r"(?<=per )row of (\w+_\w+)", describe_reference, sentence), cutoff
        )

    def _windows_per_score(
        self, tree: exp.Query, source_key: InputKey, query: exp.Query
    ) -> exp.Query:
        """Compute a relation's window functions for every score in one wide CTE.

        A UNION ALL then combines the scores.
        """
        input_cte = self.add_input(source_key)
        group, names = (
            self.ctes[input_cte].keys[GROUP_ID].columns,
            self.ctes[input_cte].query.named_selects,
        )
        rows = select_columns(input_cte, names, group)
        wide = self.ctes.free_name(f"{input_cte}_with_thresholds")
        windows = [select_item for select_item in tree.selects if select_item.find(exp.Window)]
        for branch in find_nodes(query, exp.Select):
            score = next(
                select_item.this.name
                for select_item in branch.selects
                if select_item.alias == "score"
            )
            for select_item in windows:
                scored_alias = f"{select_item.alias}{score.removeprefix('score')}"
                rows.select(
                    _window_for_score(select_item.this, score).as_(scored_alias), copy=False
                )
                branch.select(exp.column(scored_alias).as_(select_item.alias), copy=False)
            branch.from_(exp.Table(this=exp.to_identifier(wide)), copy=False)
        rows_title = "one row per prediction, with window values of each score"
        self.wide_score_ctes[input_cte] = self.ctes.add(
            wide, rows, rows_title, self.ctes[input_cte].keys, materialize=True
        )
        return query

    def _cross_with_systems(
        self, tree: exp.Query, keys: KeysByName
    ) -> tuple[exp.Query, KeysByName]:
        """Cross join the queries with the systems.

        Every system is then evaluated on every query. Systems are the group-by columns that only
        the run has.
        """
        group_columns = keys[GROUP_ID].columns
        run_cte = self.add_input(InputKey("run"))
        missing = [
            name for name in self.ctes[run_cte].keys[GROUP_ID].columns if name not in group_columns
        ]
        if not missing:
            return tree, keys
        columns = [key_column(name) for name in missing]
        systems = exp.select(*columns).from_(run_cte).group_by(*columns)
        for query, names in ((systems, missing), (first_select(tree), [*group_columns, QUERY_ID])):
            query.comments = [describe_rows("one row per list", {"list": name_keys(names)})]
        query_columns = [key_column(name, "query_ids") for name in group_columns]
        system_columns = [key_column(name, "systems") for name in missing]
        joined = exp.select(
            *query_columns, *system_columns, exp.column(QUERY_ID, table="query_ids")
        ).from_(tree.subquery("query_ids"))
        return joined.join(systems.subquery("systems"), join_type="cross"), {
            GROUP_ID: KeyColumns((*group_columns, *missing), nullable=True)
        }


def _join_queries_by_group(tree: exp.Expr) -> None:
    """Join the queries table by the columns that group its rows, too: files join it by the query
    alone.
    """
    for select in find_nodes(tree, exp.Select):
        for join in select.args.get("joins") or ():
            if join.this.name == "queries" and isinstance(join.this, exp.Table):
                group, group_of_rows = (
                    exp.column(GROUP_ID, table=table.alias_or_name)
                    for table in (join.this, select.args["from_"].this)
                )
                join.on(group.eq(group_of_rows), copy=False)


def _window_for_score(window: exp.Expr, score: str) -> exp.Expr:
    """Rewrite a window over the column ``score`` for one score column of wide rows."""
    window = window.copy()
    for column in [
        reference for reference in find_nodes(window, exp.Column) if reference.name == "score"
    ]:
        column.replace(exp.column(score))
    partition = [
        expression
        for expression in window.args.get("partition_by") or []
        if expression.name != SCORE_NAME
    ]
    window.set("partition_by", partition or None)
    return window
