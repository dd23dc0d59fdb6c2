"""Folders of the pages of metrics: families are the folders of sql/metrics, and curves are one of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

FAMILIES = {
    "ranking": (
        "Rankings",
        "Ranked lists, compared with relevance judgments.",
        (
            "Use it when you have ranked lists and judgments of their documents. Counts show how"
            " many queries and documents the other metrics are based on."
        ),
    ),
    "clicks": (
        "Clicks",
        "Ranked lists, compared with [clicks on the documents that users saw](DOCS/clicks.md).",
        (
            "Use it when clicks are your only labels, and you compare a new ranking with the one"
            " that users saw."
        ),
    ),
    "recommendation": (
        "Beyond accuracy",
        (
            "Coverage, novelty, diversity and exposure: see [Beyond"
            " accuracy](DOCS/beyond-accuracy.md)."
        ),
        (
            "Use it when relevance is not enough, and you want to know how varied, new or fairly"
            " spread recommendations are."
        ),
    ),
    "subtopics": (
        "Subtopics",
        (
            "Novelty and diversity: documents judged [for each"
            " subtopic](DOCS/beyond-accuracy.md#subtopics-and-nuggets) of a query."
        ),
        "Use it when queries have several meanings or needs, and documents are judged for each.",
    ),
    "overlap": (
        "Two runs",
        (
            "The lists of two runs [without"
            " judgments](DOCS/beyond-accuracy.md#two-runs-without-judgments)."
        ),
        "Use it when you compare two rankings and have no judgments.",
    ),
    "exposure": (
        "Lists shown",
        "Counts over all lists of a run.",
        "Use it to see how many lists and documents the other metrics of a run are based on.",
    ),
    "stages": (
        "Stages",
        (
            "A stage of a search, compared with [the one"
            " before](DOCS/beyond-accuracy.md#pipelines-of-several-stages)."
        ),
        "Use it when a search has several stages, and you want to know the effect of one.",
    ),
    "classification": (
        "Classification and calibration",
        "Predictions with a label of 0 or 1, a score, and optionally a weight.",
        (
            "Use it when you have predictions of yes or no, with scores or probabilities. Counts"
            " show how many rows the other metrics are based on."
        ),
    ),
    "classes": (
        "Several classes",
        "Predictions of [several classes](DOCS/classes.md).",
        "Use it when each row belongs to one of several classes.",
    ),
    "agreement": (
        "Agreement of judges",
        "Ratings of the same items by [several judges](DOCS/classes.md#agreement-of-judges).",
        (
            "Use it when people or models rated the same items, and you want to know if they agree"
            " more than by chance."
        ),
    ),
    "pairs": (
        "Rank correlation and pairs",
        "The order of pairs of predictions, without forming pairs.",
        (
            "Use it when only the order of predictions matters, also if labels have more than two"
            " values."
        ),
    ),
    "regression": (
        "Regression",
        "Predictions of a number, with labels that are numbers.",
        "Use it when you predict a number.",
    ),
    "forecasts": (
        "Forecasts",
        (
            "Predicted quantiles and intervals of a number: see"
            " [forecasts](DOCS/metrics.md#forecasts)."
        ),
        "Use it when you predict quantiles or intervals of a number.",
    ),
    "measures": (
        "Columns of your own",
        "The mean, share, sum or quantile of [any column](DOCS/metrics.md#columns-of-your-own).",
        (
            "Use it when you have a number of your own for each query or prediction, such as"
            " latency or the grade of a judge."
        ),
    ),
    "prediction_powered": (
        "Labels and a judge",
        (
            "Means of labels, of which a judge [predicts the missing"
            " ones](DOCS/classes.md#a-judge-for-all-and-labels-for-some)."
        ),
        "Use it when a model scored all items, and people labelled a random part of them.",
    ),
    "uplift": (
        "Uplift",
        (
            "Predicted effects of a treatment, from a [randomized"
            " experiment](DOCS/experiments.md#evaluate-an-uplift-model)."
        ),
        (
            "Use it when a model predicts whom a treatment changes, and you have the outcomes of"
            " treated units and of controls."
        ),
    ),
    "policies": (
        "Off-policy evaluation",
        (
            "The reward that [another policy would have"
            " had](DOCS/experiments.md#evaluate-a-policy-from-logs-off-policy)."
        ),
        "Use it when you want to estimate the reward of a policy from the logs of another one.",
    ),
    "interleaving": (
        "Interleaving",
        "Two rankers compared by clicks in mixed lists.",
        "Use it when two rankers are compared online by clicks in mixed lists.",
    ),
    "leakage": (
        "Texts of queries in documents",
        "Queries that [a document contains](DOCS/splits.md#find-questions-that-a-text-contains).",
        "Use it when queries may have been copied from documents, or into them.",
    ),
    "splits": (
        "Splits and leakage",
        "Checks of [train and test parts](DOCS/splits.md).",
        (
            "Use it before you train: to see if parts are as large as you expect, and if"
            " information about test rows is in train."
        ),
    ),
    "clusters": (
        "Clusters of records",
        "Predicted and true clusters: see [entity resolution](DOCS/entity-resolution.md).",
        (
            "Use it when records are grouped into entities, and true groups are known for all or"
            " some of them. Counts show the sizes and where the errors are."
        ),
    ),
    "blocking": (
        "Blocking",
        "Candidate pairs of records: see [blocking](DOCS/entity-resolution.md#blocking).",
        "Use it when you choose the rules that select pairs of records to compare.",
    ),
    "names": (
        "Names of records",
        (
            "Names that clusters share: see [entity"
            " resolution](DOCS/entity-resolution.md#names-of-clusters)."
        ),
        "Use it when records have names, and you want to see how ambiguous these are.",
    ),
    "curves": (
        "Curves",
        "A row per point, cluster or provider, instead of one value.",
        "Use it when one number hides what you need to see, such as the choice of a threshold.",
    ),
}
"""The title of each family, in the order of the navigation, a sentence, and when to use its
metrics, unless their files say it.

A family that is not here has its folder's name.
"""


def find_family(file: SqlFile) -> str:
    """Return the family of a metric."""
    return "curves" if file.kind == "curves" else file.path.parent.name


def group_by_family() -> dict[str, list[SqlFile]]:
    """Return the metrics of each family by name, in the order of the navigation."""
    files = sorted(
        [*load_registry().metrics.values(), *load_registry().curves.values()],
        key=lambda file: file.full_name.lower(),
    )
    families = dict.fromkeys([*FAMILIES, *sorted({find_family(file) for file in files})])
    return {
        name: members
        for name in families
        if (members := [file for file in files if find_family(file) == name])
    }


def find_family_title(name: str) -> str:
    """Return the title of a family."""
    return FAMILIES[name][0] if name in FAMILIES else name.capitalize()


def locate_metric_page(file: SqlFile) -> str:
    """Return the page of a metric, below docs."""
    return f"metrics/{find_family(file)}/{file.path.stem}.md"


def find_usage(file: SqlFile) -> str:
    """Return when to use a metric: from its file, or from its family."""
    declared = file.annotations.get("Use when", "")
    if declared:
        return f"Use it when {declared}."
    return FAMILIES[find_family(file)][2] if find_family(file) in FAMILIES else ""


def build_family_page(name: str) -> str:
    """Return the page of a family: its metrics in a table."""
    about = "\n\n".join(FAMILIES[name][1:]).replace("DOCS", "../..") if name in FAMILIES else ""
    rows = [
        f"| [`{file.full_name}`]({file.path.stem}.md) | {file.description} |"
        f" {file.annotations.get('Use when', '')} | {_list_parameters(file)} |"
        f" {_find_range(file)} |"
        for file in group_by_family()[name]
    ]
    return "\n".join(
        [
            f"# {find_family_title(name)}",
            "",
            about,
            "",
            "| name | definition | when to use it | parameters | range |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _list_parameters(file: SqlFile) -> str:
    return ", ".join(f"`{name}`" for name in [*file.params, *file.declared_settings])


def _find_range(file: SqlFile) -> str:
    return "rows" if file.kind == "curves" else file.annotations.get("Range", "")
