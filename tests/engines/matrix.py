"""The table of metrics and engines that agree, printed after the tests, and stored for the page on
engines.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from website.linked_pages import ENGINES_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PROPERTY = "agreed"


def make_record(
    engine: str, version: str, scenario: str, metrics: Iterable[str], worst: float
) -> dict[str, Any]:
    """Return the record of a test: names of the metrics that agree, and the largest relative
    difference of their values.
    """
    return {
        "engine": engine,
        "version": version,
        "scenario": scenario,
        "metrics": sorted(set(metrics)),
        "worst": worst,
    }


def format_table(records: Iterable[Mapping[str, Any]], engines: Iterable[str]) -> str:
    """Return a Markdown table: a row per metric, in each column in how many scenarios the engine
    gave DuckDB's numbers.
    """
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    versions: dict[str, str] = {}
    scenarios: dict[str, set[str]] = defaultdict(set)
    for item in records:
        versions[item["engine"]] = item["version"]
        scenarios[item["engine"]].add(item["scenario"])
        for metric in item["metrics"]:
            seen[metric][item["engine"]].add(item["scenario"])
    shown = [engine for engine in engines if engine in versions]
    lines = [
        "| | " + " | ".join(f"{engine} {versions[engine]}" for engine in shown) + " |",
        "|---|" + "---|" * len(shown),
    ]
    lines.append("| calls | " + " | ".join(str(len(scenarios[engine])) for engine in shown) + " |")
    lines += [
        f"| `{metric}` | " + " | ".join(str(len(seen[metric][engine])) for engine in shown) + " |"
        for metric in sorted(seen, key=str.lower)
    ]
    return "\n".join(lines) + "\n"


def write_table(new: str) -> None:
    """Store a table, which the next build of the documentation puts on its page."""
    ENGINES_TABLE.parent.mkdir(exist_ok=True)
    ENGINES_TABLE.write_text(new, "utf-8")
