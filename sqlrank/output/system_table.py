"""Lay a comparison with one baseline out as a LaTeX table of systems, whose marks say which values differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.output.display_values import Format, format_value
from sqlrank.output.latex import escape_latex, format_latex

if TYPE_CHECKING:
    import pyarrow as pa

BETTER, WORSE = r"$^{\dagger}$", r"$^{\ddagger}$"
"""Marks of values that are significantly better and worse than those of the baseline."""


def format_system_table(result: pa.Table, digits: int) -> str | None:
    """Return a row per group and system, and a column per metric; None for a comparison of pairs, of which each has its own baseline."""
    rows = result.to_pylist()
    baselines = {row["baseline"] for row in rows}
    if len(baselines) != 1:
        return None
    (baseline,) = baselines
    keys = result.column_names[: result.column_names.index("metric")]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    cells: dict[tuple[object, ...], dict[str, str]] = {}
    for row in rows:
        group, metric = tuple(row[key] for key in keys), row["metric"]
        for name, column in ((baseline, "value_baseline"), (row["system"], "value")):
            mark = "" if name == baseline or row["winner"] is None else BETTER if row["winner"] == name else WORSE
            cells.setdefault((*group, name), {})[metric] = format_value(row[column], Format.latex, digits, name=metric) + mark
    lines = [
        [*(format_value(value, Format.latex) for value in key), *(values.get(metric, "--") for metric in metrics)]
        for key, values in cells.items()
    ]
    header = [escape_latex(name) for name in (*keys, "system", *metrics)]
    test, correction = next(((row["test"], row["correction"]) for row in rows if row["test"] is not None), ("paired", "none"))
    note = f"% dagger: significantly better than {escape_latex(str(baseline))}, ddagger: worse ({test} test, correction {correction})\n"
    return format_latex(header, ["left"] * (len(keys) + 1) + ["right"] * len(metrics), lines) + note.replace("\r", " ")
