"""Where the page of each metric is: families are the folders of sql/metrics, and curves are one of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

FAMILIES = {
    "ranking": ("Rankings", "Ranked lists, compared with relevance judgments."),
    "recommendation": ("Beyond accuracy", "Coverage, novelty, diversity and exposure: see [Beyond accuracy](DOCS/beyond-accuracy.md)."),
    "subtopics": (
        "Subtopics",
        "Novelty and diversity: documents judged [for each subtopic](DOCS/beyond-accuracy.md#subtopics-and-nuggets) of a query.",
    ),
    "overlap": ("Two runs", "The lists of two runs [without judgments](DOCS/beyond-accuracy.md#two-runs-without-judgments)."),
    "exposure": ("Lists shown", "Counts over all lists of a run."),
    "stages": ("Stages", "A stage of a search, compared with [the one before](DOCS/beyond-accuracy.md#pipelines-of-several-stages)."),
    "classification": ("Classification and calibration", "Predictions with a label of 0 or 1, a score, and optionally a weight."),
    "classes": ("Several classes", "Predictions of [several classes](DOCS/classes.md)."),
    "pairs": ("Rank correlation and pairs", "The order of pairs of predictions, without forming pairs."),
    "regression": ("Regression", "Predictions of a number, with labels that are numbers."),
    "forecasts": ("Forecasts", "Predicted quantiles and intervals of a number: see [forecasts](DOCS/metrics.md#forecasts)."),
    "measures": ("Columns of your own", "The mean, share, sum or quantile of [any column](DOCS/metrics.md#columns-of-your-own)."),
    "policies": (
        "Off-policy evaluation",
        "The reward that [another policy would have had](DOCS/experiments.md#evaluate-a-policy-from-logs-off-policy).",
    ),
    "interleaving": ("Interleaving", "Two rankers compared by clicks in mixed lists."),
    "splits": ("Splits and leakage", "Checks of [train and test parts](DOCS/splits.md)."),
    "clusters": ("Clusters of records", "Predicted and true clusters: see [entity resolution](DOCS/entity-resolution.md)."),
    "blocking": ("Blocking", "Candidate pairs of records: see [blocking](DOCS/entity-resolution.md#blocking)."),
    "names": ("Names of records", "Names that clusters share: see [entity resolution](DOCS/entity-resolution.md#names-of-clusters)."),
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
    return "\n".join([f"# {title(name)}", "", about, "", "| name | definition | parameters | range |", "|---|---|---|---|", *rows, ""])


def _parameters(file: SqlFile) -> str:
    return ", ".join(f"`{name}`" for name in [*file.params, *file.declared_settings])


def _reach(file: SqlFile) -> str:
    return "rows" if file.kind == "curves" else file.annotations.get("Range", "")
