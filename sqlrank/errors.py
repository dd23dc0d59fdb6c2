"""The errors sqlrank raises; each message says what is wrong, where, and what to do next."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


QUOTED = 80
"""How many characters of what somebody else wrote a message quotes."""


class SqlrankError(ValueError):
    """Base of every error that a caller can cause; also a ``ValueError``."""


class MetricError(SqlrankError):
    """A metric, parameter or policy that does not exist or does not fit."""


class ContractError(SqlrankError):
    """A ``.sql`` file that breaks the file contract; names file, line and rule."""


class InputError(SqlrankError):
    """Data that cannot be evaluated as they are: all problems of all sources in one message."""


class ExecutionError(SqlrankError):
    """A statement that an engine could not finish: time, memory, an interruption, or what the engine says."""


LONGEST_SHOWN = 200


def shown(value: Any) -> str:
    """Return what was given as a message shows it, cut if it is long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  an object of the caller's may fail in any way
        text = f"a {type(value).__name__}"
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` if a known word is close, else ``.``: the end of a sentence either way."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else "."


def quoted(text: str, *, is_name: bool = False) -> str:
    """Return what somebody else wrote as a message quotes it: at most 80 characters, the first of a text, or both ends of a name."""
    if len(text) <= QUOTED:
        return repr(text)
    return repr(f"{text[: QUOTED // 2]}...{text[-QUOTED // 2 :]}") if is_name else f"{text[:QUOTED]!r}..."
