"""Draw a confusion matrix of observed and predicted classes with their weights, colored by the share of the observed class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt

from sqlrank.charts import theme
from sqlrank.charts.metric_charts import add_text_colors, layer_cells
from sqlrank.charts.result_view import assign_channels, text_labels

if TYPE_CHECKING:
    from altair.typing import ChartType

    from sqlrank.charts.result_view import ResultView

CURVE = "MulticlassConfusionMatrix"


def draw_confusion(view: ResultView) -> ChartType:
    """Draw a square with its weight for each pair of classes, and color it by its share of the observed class; groups become facets."""
    sides = {name: text_labels([row[name] for row in view.rows]) for name in ("predicted", "label")}
    groups = [
        (name, text_labels([row[name] for row in view.rows])) for name in [*view.columns_of_kind("by"), *view.columns_of_kind("slice")]
    ]
    titled_labels = [("predicted class", sides["predicted"]), ("observed class", sides["label"]), *groups]
    dimensions, keys = assign_channels(titled_labels, ("across", "down", "column", "row"), len(view.rows))
    classes = dimensions[1].labels  # both axes have the order of the observed classes, also if the first group lacks some
    dimensions = [replace(dimensions[0], labels=classes), *dimensions[1:]]
    rows = [
        {**key, "y": row["portion"] or 0.0, "weight": row["weight"], "portion": row["portion"]}
        for key, row in zip(keys, view.rows, strict=True)
    ]
    layers = layer_cells(
        dimensions,
        "share of the observed class",
        {"weight": "weight", "portion": "share of the observed class"},
        {"domain": [0, 1]},
        alt.Text("weight:Q", format=",.6~r"),
    )
    by = f" by {theme.join_names([name for name, _ in groups])}" if groups else ""
    notes = ["Numbers: weight of the predictions, without weights their number. The diagonal is right."]
    chart = theme.facet_chart(alt.layer(*layers, data=theme.inline_data(add_text_colors(rows))), dimensions)
    return theme.with_caption(chart, f"Confusion matrix{by}", notes)
