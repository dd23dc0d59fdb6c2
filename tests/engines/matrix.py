"""The table of metrics and engines that agree, printed after the tests and stored in
docs/engines.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from release.sources import digest_sources, mark_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
PROPERTY = "agreed"
_TABLE = re.compile(r"(?<=<!-- matrix -->\n).*(?=<!-- end of matrix -->)", re.DOTALL)


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


def read_table() -> str:
    """Return the table that is in the documentation."""
    match = _TABLE.search(PAGE.read_text("utf-8"))
    return match[0] if match else ""


def write_table(new: str) -> None:
    """Put a table into the documentation."""
    PAGE.write_text(_TABLE.sub(lambda _: new, PAGE.read_text("utf-8")), "utf-8")
    mark_page(PAGE, digest_sources(PAGE.parents[1]))
