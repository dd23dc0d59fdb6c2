"""What was asked, once: a call as the caller made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Call:
    """The arguments of a call: metrics, the sources of roles, and what holds for all metrics; checked when it is looked up."""

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
    policies: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, metrics: Any, arguments: Mapping[str, Any], policies: Mapping[str, Any]) -> Call:
        """Return the call of a public function from its arguments by name; those that a call does not have are left out."""
        roles = ("run", "qrels", "predictions", "queries")
        sources = {role: arguments.get(role) for role in roles if arguments.get(role) is not None}
        sources |= {role: source for role, source in (arguments.get("inputs") or {}).items() if source is not None}
        own = ("columns", "by", "where", "per_query", "compat", "sql_dir", "plan", "confidence", "interval")
        return cls(metrics, sources, policies=policies, **{name: arguments[name] for name in own if name in arguments})
