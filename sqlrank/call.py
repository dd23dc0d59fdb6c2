"""What was asked, once: a call as the caller made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Several:
    """Several sources of one role, each with its name if it was given one: parts of a table, or runs that ``are_systems``."""

    parts: tuple[tuple[str | None, Any], ...]
    are_systems: bool = False

    @classmethod
    def of(cls, role: str, source: Any) -> Any:
        """Return what stands for a source: several for a list, and for a map from names to runs; else the source itself."""
        is_of_runs = role == "run"
        if isinstance(source, list) or (isinstance(source, tuple) and is_of_runs):
            return cls(tuple((None, cls._part(item)) for item in source), is_of_runs) if source else source
        if is_of_runs and isinstance(source, Mapping) and source and not is_nested(source):
            return cls(tuple((str(name), cls._part(item)) for name, item in source.items()), are_systems=True)
        return source

    @property
    def before(self) -> Several | None:
        """Each run but the last under the name of the one that was given after it; None unless there are several runs, all with names."""
        names = [name for name, _ in self.parts]
        if not self.are_systems or len(names) == 1 or None in names:
            return None
        return Several(tuple((after, part) for after, (_, part) in zip(names[1:], self.parts, strict=False)), are_systems=True)

    @classmethod
    def _part(cls, source: Any) -> Any:
        """Return what stands for one of several sources, which may be a list of files."""
        return cls(tuple((None, item) for item in source)) if isinstance(source, list) and source else source


def is_nested(source: Mapping[Any, Any]) -> bool:
    """Whether a map holds the rows of a ranking: a map from documents to numbers for each query."""
    return all(
        isinstance(docs, Mapping) and not any(isinstance(value, Mapping) or hasattr(value, "__len__") for value in docs.values())
        for docs in source.values()
    )


def with_runs_before(given: Mapping[str, Any], asked: Iterable[Any]) -> Mapping[str, Any]:
    """Return sources by role, with the run that was given before each named one as an input of which all metrics that read it say that."""
    before = getattr(given.get("run"), "before", None)
    items = list(asked)
    for role in {item.file.facts.get("Before") for item in items} - {None, *given}:
        if before is not None and all(item.file.facts.get("Before") == role for item in items if role in item.uses.roles):
            given = {**given, str(role): before}
    return given


def leaves(source: Any) -> list[Any]:
    """Return the single sources that a source is made of."""
    return [leaf for _, part in source.parts for leaf in leaves(part)] if isinstance(source, Several) else [source]


@dataclass(frozen=True)
class Call:
    """The arguments of a call: metrics, the sources of roles, and what holds for all metrics; checked when it is looked up.

    ``with_weights`` asks for the weights of queries, if they have any, beside their values, ``per_unit`` for the values of units of metrics
    that are of groups. ``query`` is the only one that is read, if it is given.
    """

    metrics: Any
    sources: Mapping[str, Any]
    columns: Mapping[str, Any] | None = None
    by: Any = ()
    where: str | None = None
    per_query: bool = False
    compat: str | None = None
    sql_dir: Any = None
    plan: Mapping[str, Any] | None = None
    confidence: float | None = None
    interval: str = "auto"
    with_weights: bool = False
    per_unit: bool = False
    query: Any = None
    unit: str | None = None
    replicates: int | None = None
    seed: int = 0
    policies: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, metrics: Any, arguments: Mapping[str, Any], policies: Mapping[str, Any]) -> Call:
        """Return the call of a public function from its arguments by name; those that a call does not have are left out."""
        roles = ("run", "qrels", "predictions", "queries")
        sources = {role: arguments.get(role) for role in roles if arguments.get(role) is not None}
        sources |= {role: source for role, source in (arguments.get("inputs") or {}).items() if source is not None}
        sources = {role: Several.of(role, source) for role, source in sources.items()}
        own = (
            "columns",
            "by",
            "where",
            "per_query",
            "compat",
            "sql_dir",
            "plan",
            "confidence",
            "interval",
            "unit",
            *(("replicates", "seed") if "interval" in arguments else ()),
        )
        return cls(metrics, sources, policies=policies, **{name: arguments[name] for name in own if name in arguments})


def split_names(text: str) -> list[str]:
    """Return what stands between commas, but for those within parentheses or quotes: ``system,day=SUBSTR(ts, 1, 10)``."""
    names, depth, quote = [""], 0, ""
    for letter in text:
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
        depth += 0 if quote else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quote:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]
