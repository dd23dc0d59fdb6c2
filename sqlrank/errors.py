"""Define the errors of sqlrank, and format texts for messages: mask secrets, quote excerpts,
enumerate and suggest names.

Messages contain the problem, its location, and advice.
"""

from __future__ import annotations

import errno
import re
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""Numbers of the errors of full disks and quotas."""

MAX_EXAMPLES = 3
"""Maximum number of rows or values that a message shows."""

MAX_EXCERPT = 80
"""Maximum number of characters that a message quotes from foreign text."""


_WORD = re.compile(r"(?!sqlrank\b)[a-z]+(?=[\s,:!?']|$)")
"""A plain word at the beginning of a text."""

MAX_LINE_CHARS = 2000
"""Maximum length of a message line; longer ones lose their middle."""

CONTROLS = "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufffe\\uffff]"  # noqa: E501
"""Terminal control and bidirectional characters, line breaks, surrogates, and characters invalid in
XML.
"""

_KEYS = r"(?:passw(?:or)?d|pwd|passphrase|secret|token|credentials?|(?:api|access|account|private)[_-]?key)"  # noqa: E501
_VALUE = r"""(?:\\?'(?:[^']|'')*'?|\\?"(?:[^"]|"")*"?|[^\s&'"]+)"""
_SECRETS = (
    # User and password of a URL; a password may contain slashes, and a normalized path has only one
    # before the host.
    (r"""(:/{1,3})(?:[^\s'"<>/@]{0,300}:[^\s'"<>]{0,300}|[^\s'"<>/@]{0,300})@""", r"\1***@"),
    # A password that was cut before its @: a port would be a number.
    (r"""(:/{1,3}[^\s/?#@:'"]{1,300}:)(?!\d*(?:[/?#,;'"\s]|$))[^\s'"]+""", r"\1***"),
    # The query of a URL, such as a signature.
    (r"""(:/{1,2}[^\s?'"]{0,1000}\?)(?=[^\s'"=]{0,300}=)[^\s'"]+""", r"\1***"),
    # Connection strings and statements.
    (rf"({_KEYS}(?:\s*=\s*|\s+(?='))){_VALUE}", r"\1***"),
    # Dicts, of which the start may be cut: the name alone is in quotes, unlike one in a condition.
    (
        rf"((?:(?:^|['\"]|\.\.\.)[\w.-]*|[{{,]\s*\\?['\"][^'\"]{{0,99}}){_KEYS}['\"]\s*[:=]\s*){_VALUE}",
        r"\1***",
    ),
)


def escape_controls(text: str, allowed: str = "") -> str:
    r"""Escape the control characters of a text except those in ``allowed``.

    >>> print(escape_controls("a" + chr(27) + "b" + chr(10)))
    a\x1bb\n
    """
    return (
        text
        if text.isprintable()
        else re.sub(
            CONTROLS, lambda match: match[0] if match[0] in allowed else repr(match[0])[1:-1], text
        )
    )


def redact_secrets(text: str) -> str:
    """Mask passwords, tokens and signatures in URLs and connection strings.

    >>> redact_secrets("postgresql://bob:hunter2@db/x?a=1 password=x")
    'postgresql://***@db/x?*** password=***'
    """
    for pattern, replacement in _SECRETS:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return text


def clean_line(text: str) -> str:
    """Sanitize a message line: mask secrets, escape control characters, limit its length.

    Continuation lines keep their line breaks, each followed by four blanks.
    """
    lines = (
        _shorten_line(line, 4 * MAX_LINE_CHARS) for line in text.split("\n    ")
    )  # patterns are applied to texts of bounded length
    return "\n    ".join(
        _shorten_line(escape_controls(redact_secrets(line)), MAX_LINE_CHARS) for line in lines
    )


def _shorten_line(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[: length * 3 // 4]}...{line[-length // 4 :]}"


class SqlrankError(ValueError):
    """Base class of errors that callers can cause; also a ``ValueError``.

    Its arguments are the lines of its message.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__(*map(clean_line, map(str, lines)))

    def __str__(self) -> str:
        return "\n".join(self.args)

    def _render_traceback_(self) -> list[str]:
        """Return the message alone, which notebooks show without the frames of this package."""
        return [f"{type(self).__name__}: {self}"]


class MetricError(SqlrankError):
    """A metric, parameter or policy that does not exist or is not valid."""


class ArgumentError(MetricError, TypeError):
    """An argument that a function does not have, or a missing one; also a ``TypeError``."""


class ContractError(SqlrankError):
    """A ``.sql`` file that violates the file contract; names file, line and rule."""


class InputError(SqlrankError):
    """Data that cannot be evaluated: all problems of all sources in one message."""


class ExecutionError(SqlrankError):
    """A statement that an engine could not finish.

    Causes are time, memory, an interruption, or an error of the engine.
    """


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an error, or its class name if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def describe_os_error(error: OSError) -> str:
    """Return a sentence on what an operating system refused: of a file, or without one of standard
    output, with advice.

    >>> describe_os_error(OSError(errno.ENOSPC, "No space left on device"))
    'standard output cannot be written: No space left on device. Free space, or write to a file elsewhere'
    >>> describe_os_error(PermissionError(errno.EACCES, "Permission denied", "run.trec"))
    "'run.trec': Permission denied. Check the file, or name another"
    """  # noqa: E501
    reason = error.strerror or first_line(error)
    if error.filename is not None:
        return f"{str(error.filename)!r}: {reason}. Check the file, or name another"
    return (
        f"standard output cannot be written: {reason}."
        f" {'Free space, or write' if error.errno in NO_SPACE else 'Write'} to a file elsewhere"
    )


MAX_REPR = 200
MIN_SIMILARITY = 0.7
"""Minimum similarity of a misspelt word, from 0 to 1, unless the first letter is right or one
contains the other.
"""

MAX_ENUMERATED = 50
"""Maximum number of columns or tables that a message lists."""


def short_repr(value: Any) -> str:
    """Return a short representation of a value: truncated, or its type if it spans lines."""
    try:
        text = repr(value)
        text = f"a {type(value).__name__}" if "\n" in text else text
    except Exception:  # noqa: BLE001  a user's object may raise anything
        text = f"a {type(value).__name__}"
    text = redact_secrets(escape_controls(text[: 4 * MAX_REPR]))
    return text if len(text) <= MAX_REPR else f"{text[:MAX_REPR]}..."


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return ``Did you mean 'x'?`` for a close match, else an empty text."""
    closest = find_closest(word, candidates)
    return "" if closest is None else f"Did you mean {closest!r}?"


def find_closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that a word may be a misspelling of, None if there is none."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close and _is_misspelt(word.lower(), close[0]) else None


def find_misspelling(word: str, candidates: Iterable[str]) -> str | None:
    """Return the closest candidate if most of its letters are those of the word, None for one that
    begins alike.
    """
    closest = find_closest(word, candidates)
    is_similar = (
        closest is not None
        and SequenceMatcher(None, word.lower(), closest.lower()).ratio() >= MIN_SIMILARITY
    )
    return closest if is_similar else None


def suggest_choice(
    problem: str, word: object, choices: Iterable[str], listing: str = "Choose from"
) -> str:
    """Return a message on a word that is none of the choices: the problem with a short form of it,
    the closest choice, and all.

    >>> suggest_choice("unknown plan 'srt'", "srt", ["sort", "count"])
    "unknown plan 'srt'. Did you mean 'sort'? Choose from: sort, count"
    """
    names = list(choices)
    problem = problem.replace(repr(word), short_repr(word))
    return join_sentences(
        problem,
        did_you_mean(str(word), names),
        f"{listing}: {enumerate_names(names)}" if names else "",
    )


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ``MetricError`` for a value of an option that is none of the choices."""
    if value not in choices:
        raise MetricError(suggest_choice(f"unknown {name} {value!r}", value, choices))


def join_sentences(*sentences: str) -> str:
    """Join texts that are not empty with the full stops between them; a placeholder at the end of
    one is its full stop.

    >>> join_sentences("no metric is named", "", "Give metrics=...", "There are: AP, RR")
    'no metric is named. Give metrics=... There are: AP, RR'
    """
    *first, last = filter(None, sentences)
    return " ".join(
        [*(text if text.endswith(("?", "...")) else f"{text}." for text in first), last]
    )


def to_sentence(text: str) -> str:
    """Capitalize the first word of a text, unless it is an identifier.

    >>> to_sentence("give another file"), to_sentence("unit_id is NULL"), to_sentence(
    ...     "P(rel=2) has no cut-off"
    ... )
    ('Give another file', 'unit_id is NULL', 'P(rel=2) has no cut-off')
    """
    return text[:1].upper() + text[1:] if _WORD.match(text) else text


def _is_misspelt(word: str, candidate: str) -> bool:
    """Return False for words that share letters by chance, such as ``first`` and ``worst``.

    >>> _is_misspelt("first", "worst"), _is_misspelt("wrost", "worst"), _is_misspelt(
    ...     "users", "drop_users"
    ... )
    (False, True, True)
    """
    is_alike = SequenceMatcher(None, word, candidate).ratio() >= MIN_SIMILARITY
    return is_alike or word[:1] == candidate[:1] or word in candidate or candidate in word


def join_words(words: Iterable[str], conjunction: str = "and") -> str:
    """Join words as prose does, with a conjunction before the last.

    >>> join_words(["AP", "RR", "P@5"]), join_words(["DuckDB", "Spark"], "or"), join_words(["AP"])
    ('AP, RR and P@5', 'DuckDB or Spark', 'AP')
    """
    *first, last = [*words] or [""]
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def to_plural(thing: str) -> str:
    """Return the word for several things.

    >>> to_plural("query"), to_plural("day"), to_plural("record")
    ('queries', 'days', 'records')
    """
    return f"{thing[:-1]}ies" if re.search(r"[^aeiou]y$", thing) else f"{thing}s"


def count_things(number: float, thing: str) -> str:
    """Return a number of things in words.

    >>> count_things(1, "query"), count_things(2000, "query")
    ('1 query', '2,000 queries')
    """
    return f"{number:,.0f} {thing if number == 1 else to_plural(thing)}"


def list_examples(values: Sequence[str]) -> str:
    """Join values, of many the first and the number of others.

    >>> list_examples(["'a'", "'b'"]), list_examples(list("abcde"))
    ("'a' and 'b'", 'a, b, c and 2 more')
    """
    if len(values) <= MAX_EXAMPLES:
        return join_words(values)
    return f"{', '.join(values[:MAX_EXAMPLES])} and {len(values) - MAX_EXAMPLES:,} more"


def enumerate_names(names: Iterable[str]) -> str:
    """Join names with commas; of many the first and the number of others."""
    all_names = list(names)
    more = (
        f" and {len(all_names) - MAX_ENUMERATED:,} more" if len(all_names) > MAX_ENUMERATED else ""
    )
    return ", ".join(all_names[:MAX_ENUMERATED]) + more


def quote_excerpt(text: str, *, is_name: bool = False) -> str:
    """Quote foreign text in a message: at most 80 characters, of a name both ends."""
    text = redact_secrets(text)
    if len(text) <= MAX_EXCERPT:
        return repr(text)
    return (
        repr(f"{text[: MAX_EXCERPT // 2]}...{text[-MAX_EXCERPT // 2 :]}")
        if is_name
        else f"{text[:MAX_EXCERPT]!r}..."
    )
