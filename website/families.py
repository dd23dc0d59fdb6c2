"""Where the page of each metric is: families are the folders of sql/metrics, and curves are one of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

FAMILIES = {
    "ranking": ("Rankings", "What stands where in a list, beside judgments."),
    "recommendation": ("Beyond accuracy", "Coverage, novelty, diversity and exposure: [what they read](DOCS/beyond-accuracy.md)."),
    "exposure": ("Lists shown", "What is counted over all lists of a run."),
    "stages": ("Stages", "A stage of a search [beside the one before](DOCS/beyond-accuracy.md#pipelines-of-several-stages)."),
    "classification": ("Predictions", "A label of 0 or 1, a score, and a weight if there is one."),
    "pairs": ("Pairs of predictions", "Which of two is scored higher; no pair is formed."),
    "regression": ("Predictions of a number", "Labels and scores that are numbers."),
    "measures": ("Columns of your own", "The mean, share, sum or quantile of [any column](DOCS/metrics.md#columns-of-your-own)."),
    "policies": ("Logged actions", "What another policy [would have earned](DOCS/experiments.md#evaluate-a-policy-from-logs-off-policy)."),
    "interleaving": ("Interleaved lists", "Which of two rankers was clicked."),
    "splits": ("Splits", "Whether [train and test](DOCS/splits.md) are what they should be."),
    "clusters": ("Clusters of records", "Which records are one: [entity resolution](DOCS/entity-resolution.md)."),
    "blocking": ("Blocking", "Which pairs of records [are compared](DOCS/entity-resolution.md#blocking)."),
    "curves": ("Curves", "A row per point, cluster or provider, instead of one value."),
}
"""The title of each family, in the order of the navigation, and a sentence; a family that is not here has its folder's name."""


def family(file: SqlFile) -> str:
    """Return the family of a metric."""
    return "curves" if file.kind == "curves" else file.path.parent.name


def families() -> dict[str, list[SqlFile]]:
    """Return the metrics of each family by name, in the order of the navigation."""
    files = sorted([*load_registry().metrics.values(), *load_registry().curves.values()], key=lambda file: file.full_name.lower())
    found = dict.fromkeys([*FAMILIES, *sorted({family(file) for file in files})])
    return {name: of for name in found if (of := [file for file in files if family(file) == name])}


def title(name: str) -> str:
    """Return the title of a family."""
    return FAMILIES[name][0] if name in FAMILIES else name.capitalize()


def place(file: SqlFile) -> str:
    """Return the page of a metric, below docs."""
    return f"metrics/{family(file)}/{file.path.stem}.md"


def index(name: str) -> str:
    """Return the page of a family: its metrics in a table."""
    about = FAMILIES[name][1].replace("DOCS", "../..") if name in FAMILIES else ""
    rows = [
        f"| [`{file.full_name}`]({file.path.stem}.md) | {file.description} | {_parameters(file)} | {_reach(file)} |"
        for file in families()[name]
    ]
    return "\n".join([f"# {title(name)}", "", about, "", "| name | what it is | parameters | range |", "|---|---|---|---|", *rows, ""])


def _parameters(file: SqlFile) -> str:
    return ", ".join(f"`{name}`" for name in [*file.params, *file.declared_settings])


def _reach(file: SqlFile) -> str:
    return "rows" if file.kind == "curves" else file.annotations.get("Range", "")
