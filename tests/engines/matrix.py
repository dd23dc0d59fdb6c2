"""Tables of executed calls and their differences by engine, and of the metrics that agree: printed
after the tests, and stored for the page on engines.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from website.linked_pages import ENGINES_TABLE, ROOT

PROPERTY = "agreed"
PAGE = ROOT / "docs" / "engines.md"
HEADER = "| engine | calls | metrics and curves | worst difference |\n|---|---:|---:|---:|\n"
_EXECUTED = re.compile(f"(?<={re.escape(HEADER)})((?:\\|.*\\n)*)")


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


def format_executed(page: str, records: Iterable[Mapping[str, Any]], engines: Iterable[str]) -> str:
    """Return the page with the rows of engines that ran; the row of a run of more calls of the same
    version stays.
    """
    (table,) = _EXECUTED.findall(page)
    rows = {line.split(" ")[1]: line for line in table.splitlines()}
    by_engine: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for item in records:
        by_engine[item["engine"]].append(item)
    for engine, items in by_engine.items():
        title = f"{engine} {items[0]['version']}"
        calls = len({item["scenario"] for item in items})
        metrics = len({metric for item in items for metric in item["metrics"]})
        worst = max(item["worst"] for item in items)
        stored, stored_calls = rows.get(engine, "| none | 0 | ").split(" | ")[:2]
        if stored != f"| {title}" or int(stored_calls) <= calls:
            rows[engine] = f"| {title} | {calls} | {metrics} | {worst:.0e} |"
    lines = [f"{rows[engine]}\n" for engine in engines if engine in rows]
    return _EXECUTED.sub(lambda _: "".join(lines), page)


def write_tables(records: Iterable[Mapping[str, Any]], engines: Iterable[str]) -> None:
    """Write what was executed to its page, and store the table of metrics, which the next build of
    the documentation puts there.
    """
    ENGINES_TABLE.parent.mkdir(exist_ok=True)
    ENGINES_TABLE.write_text(format_table(records, engines), "utf-8")
    PAGE.write_text(format_executed(PAGE.read_text("utf-8"), records, engines), "utf-8")
