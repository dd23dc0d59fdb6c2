"""Pictures of the documentation that show data or names of metrics; ``python -m website.pictures``
writes them into docs/assets.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "docs" / "assets"
SMALL = ROOT / "examples" / "data" / "small"
WIDTH = 760
DARK, GREY, LINE = "#333", "#767676", "#d5d5d5"
GREEN, RED, BLUE = "#009e73", "#d55e00", "#0072b2"

CHOICES = {
    "Ranked lists": {
        "Users need one right result": ["MRR", "HitRate@10"],
        "Grades, and the top matters most": ["nDCG@10", "ERR@10"],
        "Users want many relevant results": ["MAP", "Precision@10"],
        "A later stage reads the first k": ["Recall@100", "FullRecall@100"],
    },
    "Predictions of yes or no": {
        "You use the order of the scores": ["AUC", "APS", "GAUC"],
        "You use the probabilities": ["LogLoss", "Brier", "CalibrationRatio"],
        "You use a threshold": ["Precision", "Recall", "MCC"],
    },
    "Predictions of a class": {
        "Each row counts the same": ["MulticlassAccuracy", "CohenKappa"],
        "Each class counts the same": ["MulticlassFBeta", "MulticlassRecall"],
    },
    "Predictions of a number": {
        "Large errors are much worse": ["RMSE", "R2"],
        "Outliers should not dominate": ["MAE", "Bias"],
        "Quantiles or intervals": ["CRPS", "IntervalCoverage"],
    },
    "Groups of records": {
        "Each record counts the same": ["BCubedPrecision", "BCubedRecall"],
        "Links between records are used": ["PairwisePrecision", "PairwiseRecall"],
        "Only whole groups are useful": ["ClusterF"],
    },
}
"""Metrics to start with, by input and question."""


def list_pictures() -> dict[str, Callable[[], str]]:
    """Return the function that draws each picture, by the name of its file."""
    return {
        "inputs.svg": draw_inputs,
        "chooser.svg": draw_chooser,
        "coverage.svg": draw_coverage,
        "ap.svg": draw_average_precision,
        "auc.svg": draw_auc,
        "search.svg": lambda: draw_rankings("query", "doc", "relevance"),
        "recommender.svg": lambda: draw_rankings("user", "item", "purchases"),
        "answers.svg": draw_answers,
        "experiment.svg": draw_experiment,
        "dbt.svg": draw_dbt,
    }


def draw_inputs() -> str:
    """Return the tables that rankings and predictions are evaluated from, with rows of the small
    tables.
    """
    parts = [
        _draw_text(190, 28, "Rankings", weight=600, anchor="middle"),
        _draw_text(590, 28, "Predictions", weight=600, anchor="middle"),
        *_draw_table(
            30, 50, "run: your results", _read_rows("run", ["query_id", "doc_id", "score"], 4)
        ),
        *_draw_table(
            215, 50, "qrels: judgments", _read_rows("qrels", ["query_id", "doc_id", "relevance"], 4)
        ),
        *_draw_table(
            500,
            50,
            "predictions: score and outcome",
            _read_rows("predictions", ["label", "score"], 4),
        ),
        '<path d="M425 20v235" stroke="#d5d5d5"/>',
        _draw_down_arrow(190, 190, 218),
        _draw_down_arrow(590, 190, 218),
        _draw_text(
            190,
            240,
            "nDCG, MRR, MAP, Recall: the mean over queries",
            anchor="middle",
            size=13,
        ),
        _draw_text(590, 240, "AUC, LogLoss, MCC: one value of all rows", anchor="middle", size=13),
    ]
    return _build_svg("Inputs of rankings and of predictions", 265, parts)


def draw_chooser() -> str:
    """Return the questions that lead to metrics."""
    parts, y = [], 24
    for title, questions in CHOICES.items():
        height = 30 * len(questions)
        parts.append(
            f'<rect x="20" y="{y}" width="190" height="{height - 6}" rx="6" fill="{BLUE}"'
            ' opacity=".12"/>'
        )
        parts.append(
            _draw_text(115, y + height / 2 + 2, title, anchor="middle", size=12, weight=600)
        )
        for place, (question, names) in enumerate(questions.items()):
            middle = y + 30 * place + 12
            parts += [
                f'<path d="M210 {y + height / 2 - 3}L232 {middle}h8" fill="none" stroke="{GREY}"/>',
                _draw_text(246, middle + 5, question, size=13),
                _draw_text(490, middle + 5, ", ".join(names), size=13, fill=BLUE),
            ]
        y += height + 14
    return _build_svg("Metrics to start with, by question", y, parts)


def draw_coverage() -> str:
    """Return intervals of 20 samples by rows and by users, beside the true value."""
    samples, truth = _simulate_clicks()
    parts = []
    for column, (unit, title) in enumerate(
        {None: "unit: the row", "user_id": "unit: the user"}.items()
    ):
        result = sqlrank.evaluate(
            "LogLoss", predictions=samples, by="sample", confidence=0.95, unit=unit
        ).to_pylist()
        left = 40 + 370 * column
        missed = sum(not row["LogLoss.ci_low"] <= truth <= row["LogLoss.ci_high"] for row in result)

        def locate_score(value: float, start: int = left) -> float:
            return round(start + 155 + (value - truth) * 1700, 1)

        parts.append(
            _draw_text(
                left + 155,
                28,
                f"{title}: {20 - missed} of 20 contain the true value",
                anchor="middle",
                size=13,
                weight=600,
            )
        )
        for number, row in enumerate(result):
            low, high, y = row["LogLoss.ci_low"], row["LogLoss.ci_high"], 48 + 11 * number
            color = BLUE if low <= truth <= high else RED
            parts.append(
                f'<path d="M{locate_score(low)} {y}H{locate_score(high)}" stroke="{color}"'
                ' stroke-width="2.5"/>'
            )
            parts.append(
                f'<circle cx="{locate_score(row["LogLoss"])}" cy="{y}" r="3" fill="{color}"/>'
            )
        parts.append(
            f'<path d="M{locate_score(truth)} 38v230" stroke="{DARK}" stroke-dasharray="4 3"/>'
        )
        parts.append(
            _draw_text(
                left + 155, 284, f"true LogLoss {truth:.3f}", anchor="middle", size=12, fill=GREY
            )
        )
    return _build_svg("95 % confidence intervals of 20 samples", 296, parts)


def draw_average_precision() -> str:
    """Return a list with the precision at each relevant document, whose mean over the relevant
    documents is average precision.
    """
    relevant = [1, 0, 1, 0, 0, 1]
    precisions = [sum(relevant[: rank + 1]) / (rank + 1) for rank in range(len(relevant))]
    parts = [
        _draw_text(40, 32, "rank", size=12, fill=GREY),
        _draw_text(100, 32, "document", size=12, fill=GREY),
        _draw_text(230, 32, "precision", size=12, fill=GREY),
    ]
    for rank, (is_relevant, precision) in enumerate(
        zip(relevant, precisions, strict=True), start=1
    ):
        y = 26 + 32 * rank
        color = GREEN if is_relevant else GREY
        parts.append(_draw_text(52, y, str(rank), anchor="middle"))
        parts.append(
            _draw_text(
                100,
                y,
                "relevant" if is_relevant else "not relevant",
                fill=color,
                weight=600 if is_relevant else 400,
            )
        )
        if is_relevant:
            parts.append(
                f'<rect x="230" y="{y - 14}" width="{round(300 * precision, 1)}" height="18"'
                f' fill="{GREEN}" opacity=".7"/>'
            )
            parts.append(
                _draw_text(
                    240 + 300 * precision,
                    y,
                    f"{sum(relevant[:rank])} / {rank} = {precision:.3f}",
                    size=13,
                )
            )
    total = sum(
        precision
        for precision, is_relevant in zip(precisions, relevant, strict=True)
        if is_relevant
    )
    sums = (
        f"AP = ({' + '.join(f'{precisions[rank]:.3f}' for rank in (0, 2, 5))}) / 4 relevant"
        f" documents = {total / 4:.3f}"
    )
    parts += [
        _draw_text(
            40,
            252,
            "A fourth relevant document was not retrieved and counts 0.",
            size=13,
            fill=GREY,
        ),
        _draw_text(40, 278, sums, weight=600),
    ]
    return _build_svg("Average precision of a list of six documents", 294, parts)


def draw_auc() -> str:
    """Return every pair of a positive and a negative of the small predictions: AUC is the share
    that is in order.
    """
    rows = [
        (int(row["label"]), float(row["score"]))
        for row in csv.DictReader((SMALL / "predictions.csv").read_text("utf-8").splitlines())
    ]
    positives, negatives = (
        sorted((score for label, score in rows if label == label_of_class), reverse=True)
        for label_of_class in (1, 0)
    )
    parts, right = (
        [
            _draw_text(20, 40, "scores of positives", size=12, fill=GREY),
            _draw_text(160, 24, "scores of negatives", size=12, fill=GREY),
        ],
        0.0,
    )
    for column, negative in enumerate(negatives):
        parts.append(_draw_text(200 + 90 * column, 48, f"{negative:g}", anchor="middle", size=13))
        for line, positive in enumerate(positives):
            credit = 1.0 if positive > negative else 0.5 if positive == negative else 0.0
            color = {1.0: GREEN, 0.5: "#e69f00", 0.0: RED}[credit]
            right += credit
            parts.append(
                f'<rect x="{158 + 90 * column}" y="{58 + 44 * line}" width="84" height="38" rx="4"'
                f' fill="{color}" opacity=".22"/>'
            )
            parts.append(
                _draw_text(200 + 90 * column, 82 + 44 * line, f"{credit:g}", anchor="middle")
            )
    parts += [
        _draw_text(120, 82 + 44 * line, f"{positive:g}", anchor="middle", size=13)
        for line, positive in enumerate(positives)
    ]
    pairs, bottom = len(positives) * len(negatives), 84 + 44 * len(positives)
    parts.append(
        _draw_text(20, bottom, f"AUC = {right:g} / {pairs} pairs = {right / pairs:.4f}", weight=600)
    )
    parts.append(
        _draw_text(
            20,
            bottom + 24,
            "1: the positive has the greater score. 0.5: a tie. 0: the negative has the greater"
            " score.",
            size=13,
            fill=GREY,
        )
    )
    return _build_svg("Pairs of positives and negatives", bottom + 38, parts)


def draw_rankings(query: str, document: str, grade: str) -> str:
    """Return the first list of the small tables with its judgments, and the values that follow from
    it, in the words of a field.
    """
    run = _read_rows("run", ["query_id", "doc_id", "score"], 4)
    qrels = _read_rows("qrels", ["query_id", "doc_id", "relevance"], 4)
    grades = {name: int(value) for _, name, value in qrels[1:]}
    names, ours = [f"{query}_id", f"{document}_id"], f"{query[0]}1"
    values = sqlrank.evaluate(
        ["MRR", "Recall@3", "nDCG@3"], run=_build_columns(run), qrels=_build_columns(qrels)
    ).to_pylist()[0]
    parts = [
        *_draw_table(
            30, 34, "run: your results", [[*names, "score"], *([ours, *row[1:]] for row in run[1:])]
        ),
        *_draw_table(
            230,
            34,
            "qrels: the ground truth",
            [[*names, grade], *([ours, *row[1:]] for row in qrels[1:])],
        ),
        _draw_text(480, 34, f"the list of {query} {ours}", size=13, fill=BLUE, weight=600),
        _draw_right_arrow(425, 88, 462),
    ]
    for rank, (_, name, _) in enumerate(run[1:], start=1):
        parts.append(_draw_text(480, 34 + 22 * rank, f"{rank}", size=12, fill=GREY))
        parts.append(
            _document_box(498, 20 + 22 * rank, 118, 18, is_relevant=bool(grades.get(name)))
        )
        parts.append(
            _draw_text(506, 34 + 22 * rank, f"{name}  {grade} {grades.get(name, '?')}", size=12)
        )
    for line, (name, value) in enumerate(values.items()):
        parts.append(_draw_text(636, 56 + 22 * line, f"{name} = {value:.2f}", size=13, weight=600))
    return _build_svg(f"Results and {grade} of a {query}, and their metrics", 166, parts)


def draw_answers() -> str:
    """Return a row of the example of RAG: its two lists, and the values that follow from them."""
    row = json.loads(
        (ROOT / "examples" / "data" / "rag" / "baseline.jsonl").read_text("utf-8").splitlines()[1]
    )
    retrieved, relevant = row["retrieved_ids"][:5], row["gold_ids"]
    answers = pa.table(
        {"query_id": [row["query_id"]], "retrieved": [retrieved], "relevant": [relevant]}
    )
    values = sqlrank.evaluate(
        ["MRR", "Recall@5", "nDCG@5"], inputs={"answers": answers}
    ).to_pylist()[0]
    parts = [
        _draw_text(
            30, 34, f"one row per question, here {row['query_id']}", size=13, fill=BLUE, weight=600
        ),
        _draw_text(30, 66, "retrieved", size=13, fill=GREY),
        _draw_text(30, 106, "relevant", size=13, fill=GREY),
    ]
    for y, chunks in ((66, retrieved), (106, relevant)):
        for place, name in enumerate(chunks):
            x = 110 + 106 * place
            parts.append(_document_box(x, y - 16, 98, 24, is_relevant=name in relevant))
            parts.append(_draw_text(x + 49, y, name, size=12, anchor="middle"))
    parts.append(_draw_right_arrow(436, 102, 462))
    for line, (name, value) in enumerate(values.items()):
        parts.append(_draw_text(474, 94 + 17 * line, f"{name} = {value:.2f}", size=12, weight=600))
    return _build_svg("Retrieved and relevant chunks of a question, and their metrics", 140, parts)


def draw_experiment() -> str:
    """Return the click rates of two policies, and the interval of the relative effect."""
    data = ROOT / "examples" / "data" / "open_bandit" / "impressions.parquet"
    row = sqlrank.experiment(
        "Mean(click)", data=data, unit="impression_id", variant="policy", control="random"
    ).to_pylist()[0]
    effects = [row[name] for name in ("relative_ci_low", "relative_difference", "relative_ci_high")]
    low, middle, high = (round(380 + 380 * effect, 1) for effect in effects)
    parts = [
        _draw_text(30, 44, f"{row['control']}, the control", size=13),
        _draw_text(200, 44, f"{row['value_control']:.2%}", weight=600),
        _draw_text(30, 74, f"{row['variant']}, the variant", size=13),
        _draw_text(200, 74, f"{row['value']:.2%}", weight=600),
        _draw_text(30, 110, "click rates", size=12, fill=GREY),
        f'<path d="M380 22v76" stroke="{DARK}" stroke-dasharray="4 3"/>',
        _draw_text(380, 114, "no effect", anchor="middle", size=12, fill=GREY),
        (
            f'<path d="M{low} 60H{high}" stroke="{GREY}" stroke-width="3"/><circle cx="{middle}"'
            f' cy="60" r="5" fill="{GREY}"/>'
        ),
        *(
            _draw_text(x, 44, f"{effect:+.0%}", anchor="middle", size=13)
            for x, effect in zip((low, middle, high), effects, strict=True)
        ),
        _draw_text(
            middle, 84, "the interval includes 0: it can be chance", anchor="start", size=13
        ),
    ]
    return _build_svg(
        "Click rates of two policies, and the 95 % confidence interval of the relative difference",
        130,
        parts,
    )


def draw_dbt() -> str:
    """Return the steps from a source to a table of metrics."""
    boxes = [
        ("source", ["ads.impressions", "label, score, day"]),
        ("sqlrank sql --dbt", ["daily_metrics.sql", "daily_metrics.yml"]),
        ("dbt build", ["runs the model", "and its tests"]),
        ("table", ["a row per campaign", "and day"]),
    ]
    parts = []
    for place, (title, lines) in enumerate(boxes):
        x = 20 + 187 * place
        parts.append(
            f'<rect x="{x}" y="20" width="150" height="84" rx="6" fill="{BLUE}" opacity=".1"/>'
        )
        parts.append(_draw_text(x + 75, 46, title, anchor="middle", size=13, weight=600))
        parts += [
            _draw_text(x + 75, 70 + 20 * line, text, anchor="middle", size=12)
            for line, text in enumerate(lines)
        ]
        parts += [_draw_right_arrow(x + 155, 62, x + 182)] if place < len(boxes) - 1 else []
    return _build_svg("From a source to a table of metrics with dbt", 124, parts)


def _simulate_clicks(
    n_samples: int = 20, n_users: int = 100, n_rows: int = 21
) -> tuple[pa.Table, float]:
    """Return samples of users with several rows each, whose click rates differ, and the LogLoss of
    all users.
    """
    draws = np.random.default_rng(5)
    rates = draws.beta(0.6, 1.4, size=(n_samples, n_users))
    labels = (draws.random((n_samples, n_users, n_rows)) < rates[:, :, None]).astype(int).ravel()
    sample, user = (index.ravel() for index in np.indices((n_samples, n_users, n_rows))[:2])
    truth = -(0.3 * np.log(0.3) + 0.7 * np.log(0.7))
    columns = {
        "sample": sample,
        "user_id": user,
        "label": labels,
        "score": np.full(len(labels), 0.3),
    }
    return pa.table(columns), float(truth)


def _read_rows(name: str, columns: Sequence[str], count: int) -> list[list[str]]:
    """Return the header and the first rows of a small table."""
    rows = list(csv.DictReader((SMALL / f"{name}.csv").read_text("utf-8").splitlines()))[:count]
    return [[*columns], *([row[column] for column in columns] for row in rows)]


def _draw_table(x: float, y: float, title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with a title, whose first row is its header."""
    widths = [max(len(row[column]) for row in rows) * 7 + 12 for column in range(len(rows[0]))]
    parts = [
        _draw_text(x, y, title, size=13, fill=BLUE, weight=600),
        f'<path d="M{x} {y + 29}h{sum(widths)}" stroke="{LINE}"/>',
    ]
    for line, row in enumerate(rows):
        for column, cell in enumerate(row):
            parts.append(
                _draw_text(
                    x + sum(widths[:column]),
                    y + 22 + 22 * line,
                    cell,
                    size=12,
                    fill=DARK if line else GREY,
                )
            )
    return parts


def _draw_down_arrow(x: float, top: float, bottom: float) -> str:
    return (
        f'<path d="M{x} {top}V{bottom}m-5 -7l5 7l5 -7" fill="none" stroke="{GREY}"'
        ' stroke-width="1.5"/>'
    )


def _draw_right_arrow(left: float, y: float, right: float) -> str:
    return (
        f'<path d="M{left} {y}H{right}m-7 -5l7 5l-7 5" fill="none" stroke="{GREY}"'
        ' stroke-width="1.5"/>'
    )


def _document_box(x: float, y: float, width: float, height: float, *, is_relevant: bool) -> str:
    """Return the box behind the name of a document, in the color of relevant ones or of others."""
    color, opacity = (GREEN, 0.3) if is_relevant else (GREY, 0.12)
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="{color}"'
        f' opacity="{opacity}"/>'
    )


def _build_columns(rows: Sequence[Sequence[str]]) -> pa.Table:
    """Return a table of a header and rows, whose last column is a number."""
    columns = list(zip(*rows[1:], strict=True))
    return pa.table(
        {
            name: [float(cell) for cell in column] if name == rows[0][-1] else [*column]
            for name, column in zip(rows[0], columns, strict=True)
        }
    )


def _draw_text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 14,
    fill: str = DARK,
    anchor: str = "start",
    weight: int = 400,
) -> str:
    # The default of SVG
    weighted = f' font-weight="{weight}"' if weight != 400 else ""  # noqa: PLR2004
    anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}"'
        f' fill="{fill}"{anchored}{weighted}>{escape(text)}</text>'
    )


def _build_svg(title: str, height: float, parts: Iterable[Any]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img"'
        " font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">"
    )
    return "\n".join(
        [
            head,
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height:g}" rx="10" fill="#fff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def main() -> None:
    """Write all pictures."""
    for name, draw in list_pictures().items():
        (ASSETS / name).write_text(draw(), "utf-8")


if __name__ == "__main__":
    main()
