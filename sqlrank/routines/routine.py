"""Records of functions of a database: their facts, signatures, and the statements that create and drop them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlrank._version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.routines.symbolic_statement import RoutineParameter

COMMENT_END = "Function of sqlrank"
"""Beginning of the last sentence of comments, by which functions are recognized."""

RoutineKind = Literal["table", "aggregate", "list"]
"""Kinds of functions: of tables in FROM, of the rows of a group, and of the lists in one row."""


@dataclass(frozen=True)
class RoutineFacts:
    """Facts of a function that do not depend on a dialect.

    Attributes:
        name: Name in its schema.
        kind: Kind of function.
        inputs: The inputs whose tables it takes, or whose columns it aggregates.
        metrics: The metrics that it computes; a cut-off that is a parameter is an example.
        comment: Its documentation.
    """

    name: str
    kind: RoutineKind
    inputs: tuple[str, ...]
    metrics: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Routine:
    """A function of a database.

    Attributes:
        facts: Name, kind, inputs, metrics and comment.
        signature: Call with all parameters, as in ``ndcg(run, qrels, k := 10)``.
        create: Statements that create it.
        drop: Statements that drop it.
    """

    facts: RoutineFacts
    signature: str
    create: tuple[str, ...]
    drop: tuple[str, ...]


def document_routine(description: str, parameters: Iterable[RoutineParameter], *sentences: str) -> str:
    """Return the comment of a function: a description, its parameters, further sentences, and the version."""
    lines = [f"{parameter.name}: {parameter.about.rstrip('.')}." for parameter in parameters]
    return " ".join([description, *lines, *filter(None, sentences), f"{COMMENT_END} {__version__}."])
