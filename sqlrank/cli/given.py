"""What options say, read for the public functions."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import sqlrank
from sqlrank.call import Several, split_names
from sqlrank.cli.console import pairs
from sqlrank.engines.files import is_file
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.library.metric import freeze, read

if TYPE_CHECKING:
    from sqlrank.library.metric import Value


def runs(given: list[str] | None) -> Any:
    """Return one run as it is, and named or several as systems: ``name=source``, unless that is the name of a file."""
    parts = []
    for item in given or []:
        name, equals, source = item.partition("=")
        is_named = bool(equals) and not is_file(item) and "/" not in name
        if is_named and not (name and source):
            raise SqlrankError(f"--run {item}: write --run name=source")
        parts.append((name, source) if is_named else (None, item))
    if not parts or (len(parts) == 1 and parts[0][0] is None):
        return parts[0][1] if parts else None
    return Several(tuple(parts), are_systems=True)


def columns(given: list[str] | None) -> dict[str, str | list[str]]:
    """Read names of columns; several for the score are several models."""
    scores = [item for item in given or [] if item.startswith("score=")]
    if len(scores) < 2:  # noqa: PLR2004  one is a name like any other
        return dict(pairs("--column", given))
    others = pairs("--column", [item for item in given or [] if item not in scores])
    return others | {"score": [item.removeprefix("score=") for item in scores]}


def policies(given: list[str] | None) -> dict[str, Any]:
    """Read policies as metrics' parameters are read, so that ``depth=100`` is a number and ``ties=rank`` a name."""
    if not given:
        return {}
    known = set(inspect.signature(sqlrank.evaluate).parameters) - {"policies", "queries"}
    clash = [name for name in pairs("--policy", given) if name in known]
    if clash:
        raise SqlrankError(f"--policy: unknown policy {clash[0]!r}; it is an option of its own, see --help")
    given = [item.replace("queries=", "topics=", 1) if item.startswith("queries=") else item for item in given]
    read_as = {name: value for item in given for name, value in _params(item)}
    return {
        name: dict(value) if isinstance(value, tuple) and isinstance(value[0], tuple) else freeze(value) for name, value in read_as.items()
    }


def _params(item: str) -> tuple[tuple[str, Value], ...]:
    try:
        return read(f"m({item})").params
    except MetricError:
        raise SqlrankError(f"--policy {item}: cannot read this; write it like ties=rank, depth=100 or gain={{1: 3, 2: 9}}") from None


def groupings(by: list[str] | None) -> Any:
    """Read columns, or several groupings of them: ``a,b``, of which ``total`` is that without columns."""
    if not by:
        return ()
    groups = [split_names(item) for item in by]
    for item, names in zip(by, groups, strict=True):
        if not all(names):
            raise SqlrankError(f"--by {item!r}: a column has no name; write --by a, --by a,b or --by total")
    if all(len(names) == 1 and names != ["total"] for names in groups):
        return by
    return [[] if names == ["total"] else names for names in groups]


def asked(given: dict[str, Any], *own: str) -> dict[str, Any]:
    """Return the arguments of a function from those of its command: the same but for what is read here, or is ``own`` to the command."""
    read = {
        "run": runs(given["run"]),
        "connection": given["db"],
        "columns": columns(given["column"]),
        "plan": pairs("--plan", given["plan"]),
        "inputs": pairs("--input", given["input"]),
        **policies(given["policy"]),
    }
    left = {"db", "column", "input", "policy", "slice_", "format", "output", "digits", "force", *own}
    return {name: value for name, value in given.items() if name not in left} | read


def tolerances(option: str, given: list[str] | None) -> dict[str, str]:
    """Read ``0.01`` and ``AP=2%``; raise ``SqlrankError`` for one that is given twice."""
    found: dict[str, str] = {}
    for item in given or ():
        name, _, value = item.rpartition("=")
        if (name or "*") in found:
            raise SqlrankError(f"{option} {item}: given twice for {name or 'all metrics'}")
        found[name or "*"] = value
    return found
