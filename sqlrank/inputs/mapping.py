"""What the caller's ``columns`` say: the name of a column, or an expression that stands for one, of every input or of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.harmless import RefusedError
from sqlrank.engines.names import expression, parts_of
from sqlrank.errors import InputError, suggestion
from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.input import Input
    from sqlrank.question import Question

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def split_scores(columns: Mapping[str, Any], has_predictions: bool) -> tuple[list[str], dict[str, str]]:
    """Return the score columns, if several are to be evaluated, and the other columns."""
    columns = {name.removeprefix("predictions."): theirs for name, theirs in columns.items()}
    score = columns.get("score")
    if isinstance(score, (list, tuple)) and has_predictions:
        if len(set(score)) < len(score) or not score:
            raise InputError(f"columns maps score to {score!r}; name each score column once")
        columns = {name: theirs for name, theirs in columns.items() if name != "score"}
    else:
        score = []
    for name, theirs in columns.items():
        if not isinstance(theirs, str):
            raise InputError(
                f"columns maps {name} to {theirs!r}; a ranking has one {name}, and only metrics of predictions take several scores"
            )
    return list(score), dict(columns)


def refuse_unknown(question: Question, inputs: Mapping[str, Input], given: Mapping[str, str]) -> None:
    """Refuse to map what no input has."""
    known = [column for item in inputs.values() for column in item.role.columns]
    if question.is_ranking:
        known = ["query_id", "doc_id", "score", "rank", "relevance", "weight", "label", *known]
    holder = f"{question.base} do not have" if question.base is not None else "no input has"
    for name in given:
        role, _, column = name.partition(".")
        own = [*inputs[role].role.columns, *question.by] if role in inputs and column else []
        if own and column not in own:
            raise InputError(f"columns maps {name!r}, which {role} does not have{suggestion(column, own)}")
        if not own and name not in {*known, *question.by}:
            raise InputError(f"columns maps {name!r}, which {holder}{suggestion(name, dict.fromkeys(known))}")


def of_role(role: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return what is mapped for one input: what is said of it, ``run.query_id``, over what is said of all."""
    own = {name.removeprefix(f"{role}."): theirs for name, theirs in given.items() if name.startswith(f"{role}.")}
    return {**given, **own}


def compute(question: Question, inputs: Mapping[str, Input], given: Mapping[str, str], scores: Sequence[str], database: Database) -> None:
    """Let expressions stand for columns, where what is mapped to is none."""
    for name, theirs in [*given.items(), *(("score", theirs) for theirs in scores)]:
        targets = _targets(name, question, inputs)
        if any(item.table.types is not None and item.table.column(theirs) for item in targets):
            continue
        found = [_expression(theirs, item) for item in targets]
        if all(isinstance(tree, str) for tree in found):
            raise InputError(_nowhere(question, theirs, [str(tree) for tree in found], targets))
        for item, tree in zip(targets, found, strict=True):
            if isinstance(tree, exp.Expr) and theirs not in item.computed:
                # Run, judgments and predictions may be read off one table.
                _stand_in([other for other in inputs.values() if other.table is item.table], theirs, tree, database)


def _targets(name: str, question: Question, inputs: Mapping[str, Input]) -> list[Input]:
    """Return the inputs that a mapped column is of; of a column to group by that cannot be looked up, what is evaluated."""
    role, _, column = name.partition(".")
    if role in inputs and column:
        return [inputs[role]]
    held = [item for item in inputs.values() if name in item.role.columns]
    if name in question.by:
        blind = [item for role, item in inputs.items() if role in {"run", *question.bases} or question.labelled]
        held = blind if any(item.table.types is None for item in inputs.values()) else list(inputs.values())
    return held or list(inputs.values())


def stand_for(item: Input, canonical: str, text: str, database: Database) -> None:
    """Let what a text names stand for a column of an input: a column of its table, or an expression over them.

    Raises:
        InputError: the table has no such column, or the text is neither.
    """
    theirs = item.table.column(text) if item.table.types is not None else None
    if theirs is None:
        tree = _expression(text, item)
        if isinstance(tree, str):
            there = item.table.types or {}
            raise InputError(f"{item.shown} has no column {tree!r}{suggestion(tree, there)} There are: {', '.join(there)}")
        if tree is not None:
            _stand_in([item], text, tree, database)
        theirs = text if tree is not None else item.table.column(text)
    item.names[canonical] = theirs or text


def _stand_in(items: Sequence[Input], theirs: str, tree: exp.Expr, database: Database) -> None:
    read = [column.this for column in nodes(tree, exp.Column)]
    looked = exp.select(exp.alias_(tree.copy(), "computed")).from_(items[0].table.item(read, shown=False))
    known = database.types(looked) if database.looks else {}
    for item in items:
        item.computed[theirs] = tree
        item.types[theirs] = next(iter(known.values()), "")


def _expression(text: str, holder: Input) -> exp.Expr | str | None:
    """Return the expression over columns of an input that a text is, or the column that it does not have.

    None stands for the name of a column that cannot be looked up.
    """
    dialect = holder.table.dialect
    if holder.table.types is None:
        parts = parts_of(text)
        if parts is not None and len(parts) == 1 and not _NUMBER.fullmatch(text):
            return None
        if text != text.strip():
            return None
        try:
            tree = expression(text, dialect)
        except RefusedError:
            raise
        except InputError:
            return None
        return None if isinstance(tree, exp.Column) else tree  # a name with a dot in it
    try:
        tree = expression(text, dialect)
    except RefusedError:
        raise
    except InputError:
        return text
    for column in nodes(tree, exp.Column):
        theirs = holder.table.column(column.name)
        if theirs is None:
            return column.name
        column.set("this", exp.to_identifier(theirs, quoted=True))
    return tree


def _nowhere(question: Question, theirs: str, unknown: Sequence[str], targets: Sequence[Input]) -> str:
    if len(targets) == 1 or question.labelled or question.base is not None:
        name, there = unknown[-1], list(targets[-1].table.types or ())
    else:
        name, there = theirs, sorted({column for item in targets for column in item.table.types or ()})
    is_base = question.base is not None or (question.labelled and not question.is_ranking)
    holder = f"{question.base or 'predictions'} do not have" if is_base else "no input has"
    return f"columns maps to {name!r}, which {holder}{suggestion(name, there)} There are: {', '.join(there)}"
