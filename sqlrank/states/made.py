"""The statement that makes a state: a curve whose rows are bins, with a column for each sum that metrics need."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.errors import MetricError
from sqlrank.library.asked import Asked
from sqlrank.library.file import SqlFile
from sqlrank.library.folder import sql_root
from sqlrank.library.metric import Metric
from sqlrank.library.refusals import check_value
from sqlrank.library.uses import uses
from sqlrank.question import look_up
from sqlrank.statement.statement import FOLD, Output, Statement
from sqlrank.states.alike import of_rows_alike
from sqlrank.states.asked import BASE, of_asked
from sqlrank.states.conditions import kept_conditions
from sqlrank.states.lists import said_of, summed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.call import Call
    from sqlrank.question import Question
    from sqlrank.states.asked import Wanted
    from sqlrank.states.bins import Bins
    from sqlrank.states.folds import Folds

DEFINITION = "definition"
"""The column that says what the rows of a state are, so that only those of one kind are added up."""

OF_BINS = ("bin", "positives", "negatives", "score_min", "score_max")
"""The columns of a state whose metrics are of an order."""

BATCH = "batch"
"""The column that says with which others a row was added, if that is said."""

ROWS, DAY, DAYS = "num_rows", "day", "days"
"""How many rows were added up; the column that says of which day, and how many days there were."""


def question_of(call: Call, dialect: str, bins: Bins, folds: Folds | None = None) -> tuple[Question, str]:
    """Return the question whose answer is a state, and its definition.

    Raises:
        MetricError: a metric that no state has, or several groupings or scores.
    """
    question = look_up(call)
    if question.sets is not None:
        raise MetricError(
            "by has several groupings, whose rows would overlap, and count twice when they are added up; give one list of columns"
        )
    if taken := next((name for name in question.by if name.lower() in {*OF_BINS, ROWS, DEFINITION, BATCH, FOLD}), None):
        raise MetricError(f'by names {taken!r}, which is a column of every state; rename it: by="{taken}_={taken}"')
    if isinstance((call.columns or {}).get("score"), (list, tuple)):
        raise MetricError("several scores are given; make a state of each, in a table of its own")
    library = question.library
    wanted = of_asked(question.asked, library)
    of_rows = {
        "columns": dict(call.columns or {}),
        "where": kept_conditions(call.where, question.by, question.by_expressions, dialect),
        "by": sorted(question.by),
        "expressions": dict(question.by_expressions),
    }
    if wanted.of_lists:
        definition = definition_of(of_rows | said_of(question.asked, library))
        return (question, definition) if folds is None else (folds.of_lists(question), f"{definition}-{folds.definition}")
    kind = bins.kind if wanted.ordered else "whole"
    file = _file(kind, wanted, list(dict.fromkeys(text for item in question.asked for text in item.file.requires)), bins, folds)
    settings = {"fineness": bins.fineness} if "fineness" in file.params else {}
    for param in file.params.values():
        check_value("fineness", param, bins.fineness)
    held = {name: value for name, value in question.asked[0].settings.items() if name == "nulls"}
    said = {
        "aggregates": sorted(tree.sql("duckdb") for tree in wanted.aggregates.values()),
        "bins": [kind, settings.get("fineness"), *(bins.atoms if wanted.ordered else ())],
        **of_rows,
        "nulls": held.get("nulls"),
    }
    definition = definition_of(said) if folds is None else f"{definition_of(said)}-{folds.definition}"
    metric = Metric("State", (("definition", definition),))
    asked = Asked(metric, file, {**held, **settings}, uses(library, file, {**held, **settings}), BASE)
    if folds is not None:
        question = replace(question, call=folds.call(call), reads_units=True)
    return replace(question, asked=[asked]), definition


def defined(statement: Statement, definition: str, question: Question, folds: Folds | None = None) -> Statement:
    """Return the statement of a state with the column that says which one it is; of rankings it is that of the metrics, and becomes one here."""
    if any(output.kind == "metric" for output in statement.outputs):
        statement = statement if folds is None else folds.listed(statement, question)
        statement = summed(statement, question.asked, question.library, ROWS)
    else:
        statement = of_rows_alike(statement)
    tree: Any = statement.tree.copy()
    tree.select(exp.alias_(exp.Literal.string(definition), DEFINITION), copy=False)
    return Statement(tree, [*statement.outputs, Output(DEFINITION, DEFINITION, "id")], f"sqlrank {__version__}: state {definition}")


def definition_of(said: Mapping[str, Any]) -> str:
    """Return 16 digits that tell what is said from anything else."""
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _file(kind: str, wanted: Wanted, requires: list[str], bins: Bins, folds: Folds | None) -> SqlFile:
    """Return the file of a state with a column for each aggregate more, and what its metrics require."""
    file = SqlFile("curves", "state", sql_root() / "states" / f"{kind}.sql")
    tree = file.statement
    if wanted.ordered:
        bins.part(tree)
    inner = tree.args["from_"].this
    missing = {column.name for item in wanted.aggregates.values() for column in item.find_all(exp.Column)}
    if isinstance(inner, exp.Subquery):
        inner.this.select(*(exp.column(name) for name in sorted(missing - set(inner.this.named_selects))), copy=False)
    tree.select(*(exp.alias_(item.copy(), name) for name, item in wanted.aggregates.items()), copy=False)
    if folds is not None:
        folds.split(tree)
    file.__dict__["facts"] = {**file.facts, **({"Requires": ", ".join(requires)} if requires else {})}
    return file
