"""Which column is which: from the tables that were found, and what the caller calls their columns, to inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs import checks
from sqlrank.inputs.grouping import group
from sqlrank.inputs.input import Input, compared, is_there
from sqlrank.inputs.mapping import compute, of_role, refuse_unknown, split_scores
from sqlrank.inputs.rules import rules
from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlrank.engines.database import Database, Table
    from sqlrank.question import Question

Needed = dict[str, tuple[str, ...]]
"""The columns that are needed of each input."""


class Columns:
    """The inputs of a question by role, the columns that are needed of each, and what ``by`` columns are called.

    ``by`` are their names in the statement, ``shown`` those of the result, ``attributes`` those that only the queries have. ``scores``
    are the columns of scores, if several are evaluated.
    """

    def __init__(self, question: Question, tables: Mapping[str, Table], database: Database) -> None:
        self.question = question
        self.database = database
        self.inputs = {role: self._input(role, table) for role, table in tables.items()}
        self.scores, self.given = split_scores(question.columns, "predictions" in self.inputs)
        refuse_unknown(question, self.inputs, self.given)
        if question.labelled:
            self._read_labels()
        compute(question, self.inputs, self.given, self.scores, database)
        for role, item in self.inputs.items():
            item.find(of_role(role, self.given) | ({"score": self.scores[-1]} if self.scores else {}))
        self._find_labels()
        self.shown, self.by, self.attributes = group(question, self.inputs, self.given)
        self.needed = self._needed()
        for role, names in self.needed.items():
            self.inputs[role].need(names)
        if question.labelled:
            self.inputs["predictions"].need(self.needed["run"])
        if question.call.per_unit and not self.has_units:
            raise InputError(
                "which rows of two systems are the same? Name what they have in common with unit= (--unit), or give the scores of both in one "
                "table: columns={'score': ['old', 'new']} (--column score=old --column score=new)"
            )
        if question.confidence is not None and question.confidence.of_rows and not self.has_units:
            raise InputError(
                "interval='bootstrap' draws units by their names: say which column has them with unit= (--unit), such as user_id or the id of a row"
            )
        if question.drops_nulls:
            self._drop_nulls()
        self._align()
        self.check()

    @property
    def base(self) -> Input | None:
        """The input whose rows are evaluated, if these are not documents of lists alone, nor joined of several inputs."""
        return self.inputs.get(self.question.base or "")

    @property
    def others(self) -> list[Input]:
        """The inputs that are neither of rankings nor what is evaluated: what that is joined of, and what is read beside it."""
        return [self.inputs[role] for role in self.needed if self.inputs[role].role.lists is None and self.inputs[role] is not self.base]

    @property
    def has_units(self) -> bool:
        """Whether a column of what is evaluated says what was drawn on its own."""
        role = None if self.base is None else self.base.role
        return role is not None and ((role.unit_column or "") in self.needed[role.name] or self.rows_are_units)

    @property
    def rows_are_units(self) -> bool:
        """Whether the rows of several scores are numbered, each being a unit that all scores have."""
        confidence, role = self.question.confidence, self.base.role if self.base is not None else None
        wants = confidence is not None and confidence.per_unit and len(self.scores) > 1
        return wants and role is not None and (role.unit_column or "") not in self.needed[role.name]

    def name_of(self, by: str) -> str:
        """Return what a ``by`` column is called in the statement."""
        return self.by[self.question.by.index(by)]

    def _input(self, role: str, table: Table) -> Input:
        library = self.question.library
        return Input(library.roles[role], table, library.checks.get(role))

    def _read_labels(self) -> None:
        """Read run and judgments off the predictions."""
        table = self.inputs["predictions"].table
        self.inputs = {"run": self._input("run", table), "qrels": self._input("qrels", table), **self.inputs}
        self.inputs["qrels"].is_labelled = True

    def _find_labels(self) -> None:
        """Let the label of predictions be the relevance of judgments; a NULL is none."""
        if not self.question.labelled:
            return
        predictions, qrels = self.inputs["predictions"], self.inputs["qrels"]
        given = self.given.get("label") or self.given.get("relevance")
        found = predictions.column(given or "label") or qrels.names.get("relevance")
        if found is None:
            return
        predictions.names["label"] = qrels.names["relevance"] = found
        qrels.keep(is_there(predictions.given("label")))

    def _needed(self) -> Needed:
        """Return the columns that the metrics need of each input."""
        needed: Needed = {}
        question = self.question
        if question.is_ranking or question.labelled:
            orders = {item.settings.get("ties") == "rank" for item in question.asked if item.home == "run"}
            run = (*checks.COMMON, *(["rank"] if True in orders else []), *(["score"] if False in orders or not orders else []))
            needed["run"] = run
            needed |= {"qrels": (*checks.COMMON, "relevance")} if "qrels" in self.inputs else {}
        if "queries" in self.inputs:
            weight = ("weight",) if "weight" in self.inputs["queries"].names else ()
            needed["queries"] = ("query_id", *weight, *sorted(self.read_of("queries") & {"cutoff"}))
        for role, item in self.inputs.items():
            if role not in {"run", "qrels", "queries"} and not (role == "predictions" and question.base is None):
                needed[role] = self._of_role(item)
        return needed

    def read_of(self, role: str) -> set[str]:
        """Return the columns that are named in files which read a role."""
        reading = [file for asked in self.question.asked for file in asked.uses.files if role in _tables(file.tree)]
        return {column.name for file in reading for column in nodes(file.tree, exp.Column)}

    @property
    def across_lists(self) -> set[str]:
        """The inputs of which a metric of a list reads the rows of others, too, such as how many users had an item."""
        files = [file for asked in self.question.asked for file in asked.uses.files if "Across lists" in file.facts]
        return {role for file in files for role in _tables(file.tree) & self.inputs.keys()}

    def _of_role(self, item: Input) -> tuple[str, ...]:
        question, role = self.question, item.role
        read = self.read_of(role.name)
        if question.call.per_query or any(asked.per_list for asked in question.asked) or question.uses("level", "query"):
            read.add(role.list_column or "")
        read.discard(role.unit_column or "")
        if question.confidence is not None or question.reads_units:
            read |= self._unit(item)
        needed = []
        for name, column in role.columns.items():
            is_there = column.default is None or name in item.names
            if is_there and (name in read or not (column.optional or column.default is not None) or column.default is not None):
                needed.append(name)
        return tuple(needed)

    @staticmethod
    def _unit(item: Input) -> set[str]:
        """Return the column that says what was drawn on its own: that of lists unless said, since what is of one query is not independent."""
        role = item.role
        unit = role.unit_column or role.list_column
        if unit is not None and role.list_column in item.names:
            item.names.setdefault(unit, item.names[role.list_column])
        if unit in item.names and (kind := item.type_of(unit)).startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            raise InputError(f"{item.shown}: {unit} is {kind}, which engines write differently; cast it to text or whole numbers")
        return {unit} if unit in item.names else set()

    def _drop_nulls(self) -> None:
        """Leave out rows that have no value in a column that the checks want one in, unless it tells rows apart."""
        for role, needed in self.needed.items():
            item = self.inputs[role]
            broken = rules(item.checks, needed).conditions
            there = [name for name in needed if name in item.names and item.role.columns[name].type != "key"]
            item.valued = [name for name in there if f"null_{name}" in broken and role != "queries"]

    def _align(self) -> None:
        """Read a UUID as text where another input has it as text."""
        held = {role: [*item.role.columns, *item.by] for role, item in self.inputs.items()}
        for sides in compared(self.inputs, held).values():
            kinds = {side: self.inputs[side[0]].type_of(side[1]) for side in sides}
            if "VARCHAR" in kinds.values():
                for role, name in (side for side, kind in kinds.items() if kind == "UUID"):
                    self.inputs[role].as_text.add(name)

    @property
    def made(self) -> list[Table]:
        """The tables that were made for this call, and stand for what the caller could write."""
        tables = [part for item in self.inputs.values() for part in item.table.parts or (item.table,)]
        return list({id(table): table for table in tables if table.origin is not None}.values())

    def executable(self, tree: exp.Query) -> exp.Query:
        """Return a copy of a statement over what was made of the sources for this call, instead of what the caller could write."""
        tree = tree.copy()
        for table in self.made:
            for found in [item for item in nodes(tree, type(table.written)) if item == table.written]:
                found.replace(table.node.copy())
        return tree

    def check(self) -> None:
        """Raise ``InputError`` unless every needed column is there, of a type that fits; of each score, if there are several."""
        for _ in self.each_score():
            if self.database.looks:
                checks.check_columns(self.inputs, self.needed)

    def each_score(self) -> Iterator[str]:
        """Let each score be that of the predictions in turn, and yield its name."""
        holders = [item for role, item in self.inputs.items() if role in {"predictions", "run"}]
        for theirs in self.scores:
            for item in holders:
                item.names["score"] = item.column(theirs) or theirs
            yield theirs
        if not self.scores:
            yield "score"


def _tables(tree: exp.Expr) -> set[str]:
    return {table.name for table in nodes(tree, exp.Table)}
