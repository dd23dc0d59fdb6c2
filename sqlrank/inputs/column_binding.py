"""Column binding: match the columns that metrics need with the columns of the input tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs import row_checks
from sqlrank.inputs.bound_input import BoundInput, comparable_columns, is_not_null
from sqlrank.inputs.column_mapping import bind_expressions, check_mapping_names, role_mapping, split_score_columns
from sqlrank.inputs.group_columns import bind_group_columns
from sqlrank.inputs.row_rules import row_rules
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlrank.engines.database import Database, SourceTable
    from sqlrank.resolve import ResolvedRequest

NeededColumns = dict[str, tuple[str, ...]]
"""The columns needed of each input."""


class BoundInputs:
    """The inputs of a request, bound to their tables.

    Attributes:
        inputs: The inputs by role.
        needed_columns: The columns needed of each input.
        group_columns: Group-by columns under their names in the statement.
        group_labels: Group-by columns under their names in the result.
        query_attributes: Group-by columns that only the queries table has.
        scores: Score columns, if several are evaluated.
        mapping: The user's column mapping, without scores.
    """

    def __init__(self, question: ResolvedRequest, tables: Mapping[str, SourceTable], database: Database) -> None:
        self.question = question
        self.database = database
        self.inputs = {role: self._input(role, table) for role, table in tables.items()}
        self.scores, self.mapping = split_score_columns(question.column_mapping, "predictions" in self.inputs)
        check_mapping_names(question, self.inputs, self.mapping)
        if question.rankings_from_predictions:
            self._read_labels()
        bind_expressions(question, self.inputs, self.mapping, self.scores, database)
        for role, bound_input in self.inputs.items():
            bound_input.bind_columns(role_mapping(role, self.mapping) | ({"score": self.scores[-1]} if self.scores else {}))
        self._find_labels()
        self.group_labels, self.group_columns, self.query_attributes = bind_group_columns(question, self.inputs, self.mapping)
        self.needed_columns = self._needed()
        for role, names in self.needed_columns.items():
            self.inputs[role].assume_columns(names)
        if question.rankings_from_predictions:
            self.inputs["predictions"].assume_columns(self.needed_columns["run"])
        if question.call.per_unit and not self.has_units:
            raise InputError(
                "rows of two systems are paired by a key: name it with unit= (--unit), or give the scores of both in one "
                "table: columns={'score': ['old', 'new']} (--column score=old --column score=new)"
            )
        if question.confidence is not None and question.confidence.resamples_rows and not self.has_units:
            raise InputError(
                "interval='bootstrap' resamples units: name their column with unit= (--unit), such as user_id or the id of a row"
            )
        if question.drops_nulls:
            self._drop_nulls()
        self._align()
        if question.shared_policies.get("id_type") == "text":
            self._read_ids_as_text()
        self.check()

    @property
    def base(self) -> BoundInput | None:
        """The input whose rows are evaluated.

        None for ranked lists and for roles composed of several inputs.
        """
        return self.inputs.get(self.question.base_role or "")

    @property
    def side_inputs(self) -> list[BoundInput]:
        """The inputs that are neither rankings nor the evaluated input: its components and companions."""
        return [
            self.inputs[role]
            for role in self.needed_columns
            if self.inputs[role].role.list_relation is None and self.inputs[role] is not self.base
        ]

    @property
    def has_units(self) -> bool:
        """True if the evaluated input has resampling units, in a column or as numbered rows."""
        role = None if self.base is None else self.base.role
        return role is not None and ((role.unit_column or "") in self.needed_columns[role.name] or self.rows_are_units)

    @property
    def rows_are_units(self) -> bool:
        """True if rows with several scores are numbered units shared by all scores."""
        confidence, role = self.question.confidence, self.base.role if self.base is not None else None
        needs_shared_units = confidence is not None and confidence.per_unit and len(self.scores) > 1
        return needs_shared_units and role is not None and (role.unit_column or "") not in self.needed_columns[role.name]

    def group_column_name(self, by: str) -> str:
        """Return the name of a ``by`` column in the statement."""
        return self.group_columns[self.question.group_by.index(by)]

    def _input(self, role: str, table: SourceTable) -> BoundInput:
        library = self.question.library
        return BoundInput(library.roles[role], table, library.checks.get(role))

    def _read_labels(self) -> None:
        """Bind run and judgments to the table of predictions."""
        table = self.inputs["predictions"].table
        self.inputs = {"run": self._input("run", table), "qrels": self._input("qrels", table), **self.inputs}
        self.inputs["qrels"].is_labelled = True

    def _find_labels(self) -> None:
        """Use the label of predictions as the relevance of judgments; NULL labels are not judgments."""
        if not self.question.rankings_from_predictions:
            return
        predictions, qrels = self.inputs["predictions"], self.inputs["qrels"]
        mapped_name = self.mapping.get("label") or self.mapping.get("relevance")
        label_column = predictions.column(mapped_name or "label") or qrels.columns.get("relevance")
        if label_column is None:
            return
        predictions.columns["label"] = qrels.columns["relevance"] = label_column
        qrels.add_filter(is_not_null(predictions.raw_expression("label")))

    def _needed(self) -> NeededColumns:
        """Return the columns that the metrics need of each input."""
        needed: NeededColumns = {}
        question = self.question
        if question.is_ranking or question.rankings_from_predictions:
            orders = {metric.settings.get("ties") == "rank" for metric in question.metrics if metric.input_role == "run"}
            run = (*row_checks.RANKING_KEYS, *(["rank"] if True in orders else []), *(["score"] if False in orders or not orders else []))
            needed["run"] = run
            needed |= {"qrels": (*row_checks.RANKING_KEYS, "relevance")} if "qrels" in self.inputs else {}
        if "queries" in self.inputs:
            weight = ("weight",) if "weight" in self.inputs["queries"].columns else ()
            needed["queries"] = ("query_id", *weight, *sorted(self.find_read_columns("queries") & {"cutoff"}))
        for role, bound_input in self.inputs.items():
            if role not in {"run", "qrels", "queries"} and not (role == "predictions" and question.base_role is None):
                needed[role] = self._role_columns(bound_input)
        return needed

    def find_read_columns(self, role: str) -> set[str]:
        """Return the columns referenced in files that read a role."""
        reading_files = [file for metric in self.question.metrics for file in metric.dependencies.files if role in _tables(file.tree)]
        return {column.name for file in reading_files for column in find_nodes(file.tree, exp.Column)}

    @property
    def roles_read_across_lists(self) -> set[str]:
        """Inputs of which a metric reads rows beyond the current list.

        An example is the popularity of items.
        """
        files = [file for metric in self.question.metrics for file in metric.dependencies.files if "group" in file.scopes]
        return {role for file in files for role in _tables(file.tree) & self.inputs.keys()}

    def _role_columns(self, bound_input: BoundInput) -> tuple[str, ...]:
        question, role = self.question, bound_input.role
        read_columns = self.find_read_columns(role.name)
        if question.call.per_query or any(metric.is_per_list for metric in question.metrics) or question.any_metric_with("level", "query"):
            read_columns.add(role.query_column or "")
        read_columns.discard(role.unit_column or "")
        if question.confidence is not None or question.needs_units:
            read_columns |= self._unit(bound_input)
        needed = []
        for name, column in role.columns.items():
            is_available = column.default is None or name in bound_input.columns
            if is_available and (name in read_columns or not (column.optional or column.default is not None) or column.default is not None):
                needed.append(name)
        return tuple(needed)

    @staticmethod
    def _unit(bound_input: BoundInput) -> set[str]:
        """Return the column of the resampling unit.

        By default it is the list, whose rows are not independent.
        """
        role = bound_input.role
        unit = role.unit_column or role.query_column
        if unit is not None and role.query_column in bound_input.columns:
            bound_input.columns.setdefault(unit, bound_input.columns[role.query_column])
        if unit in bound_input.columns and (duckdb_type := bound_input.column_type(unit)).startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            raise InputError(
                f"{bound_input.label}: {unit} is {duckdb_type}, which engines write differently; cast it to text or whole numbers"
            )
        return {unit} if unit in bound_input.columns else set()

    def _drop_nulls(self) -> None:
        """Exclude rows with NULL in columns that the checks require, except in keys."""
        for role, needed in self.needed_columns.items():
            bound_input = self.inputs[role]
            conditions = row_rules(bound_input.role, bound_input.checks, needed).conditions
            available = [name for name in needed if name in bound_input.columns and bound_input.role.columns[name].type != "key"]
            bound_input.not_null = [name for name in available if f"null_{name}" in conditions and role != "queries"]

    def _align(self) -> None:
        """Cast a UUID to text if another input has it as text."""
        columns_by_role = {role: [*bound_input.role.columns, *bound_input.group_columns] for role, bound_input in self.inputs.items()}
        for compared_columns in comparable_columns(self.inputs, columns_by_role).values():
            duckdb_types = {column: self.inputs[column[0]].column_type(column[1]) for column in compared_columns}
            if "VARCHAR" in duckdb_types.values():
                for role, name in (column for column, duckdb_type in duckdb_types.items() if duckdb_type == "UUID"):
                    self.inputs[role].as_text.add(name)

    def _read_ids_as_text(self) -> None:
        """Cast document ids to text in all inputs.

        Equal scores are then ordered by text.
        """
        for bound_input in self.inputs.values():
            duckdb_type = bound_input.column_type("doc_id")
            if duckdb_type.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
                raise InputError(
                    f"{bound_input.label}: doc_id is {duckdb_type}, which engines write differently as text, and id_type='text' orders equal scores by that; "
                    "cast it to text or whole numbers, or give id_type='given' (--policy id_type=given)"
                )
            if "doc_id" in bound_input.columns and duckdb_type != "VARCHAR":
                bound_input.as_text.add("doc_id")

    @property
    def temporary_tables(self) -> list[SourceTable]:
        """The temporary tables of this call, which have another form in the user's notation."""
        tables = [member for bound_input in self.inputs.values() for member in bound_input.table.members or (bound_input.table,)]
        return list({id(table): table for table in tables if table.display_item is not None}.values())

    def with_temporary_tables(self, tree: exp.Query) -> exp.Query:
        """Return a copy of a statement that reads temporary tables instead of the user's notation."""
        tree = tree.copy()
        for table in self.temporary_tables:
            for node in [
                candidate for candidate in find_nodes(tree, type(table.display_from_item)) if candidate == table.display_from_item
            ]:
                node.replace(table.from_item.copy())
        return tree

    def check(self) -> None:
        """Check that every needed column exists with a suitable type, for each score."""
        for _ in self.for_each_score():
            if self.database.can_inspect:
                row_checks.check_columns(self.inputs, self.needed_columns)

    def for_each_score(self) -> Iterator[str]:
        """Bind each score column in turn as ``score`` and yield its name.

        The inputs are modified while iterating.
        """
        holders = [bound_input for role, bound_input in self.inputs.items() if role in {"predictions", "run"}]
        for score_column in self.scores:
            for bound_input in holders:
                bound_input.columns["score"] = bound_input.column(score_column) or score_column
            yield score_column
        if not self.scores:
            yield "score"


def _tables(tree: exp.Expr) -> set[str]:
    return {table.name for table in find_nodes(tree, exp.Table)}
