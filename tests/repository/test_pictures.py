"""Pictures of the documentation are up to date, say what sqlrank computes, can be read on a phone,
and stand on a page.
"""

import json
import re

import pytest

import sqlrank
from website import metric_page, pictures

ANSWERS = pictures.ROOT / "examples" / "data" / "rag" / "baseline.jsonl"
SMALL = pictures.ROOT / "examples" / "data" / "small"
DRAWN = sorted(
    path for path in pictures.ASSETS.rglob("*.svg") if path.name not in {"logo.svg", "favicon.svg"}
)
PHONE_WIDTH, SMALLEST_LETTERS = 343, 8.9
"""Pixels of the column of text on a phone 375 wide, and of letters there."""


def read_texts(name: str) -> list[str]:
    """Return the texts of a picture."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", (pictures.ASSETS / name).read_text("utf-8"))


@pytest.mark.slow
def test_intervals_are_as_drawn():
    assert (pictures.ASSETS / "coverage.svg").read_text("utf-8") == pictures.draw_coverage(), (
        "run python -m website.pictures"
    )


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.name)
def test_letters_can_be_read_on_a_phone(path):
    text = path.read_text("utf-8")
    width = re.search(r"<svg [^>]*\bwidth=\"(\d+)\"", text)
    assert width is not None, "an image without a width fills the page"
    scale = min(1, PHONE_WIDTH / int(width[1]))
    letters = min(map(float, re.findall(r'font-size="([\d.]+)(?:px)?"', text)))
    assert letters * scale >= SMALLEST_LETTERS


def test_pictures_stand_on_a_page():
    pages = "".join(path.read_text("utf-8") for path in (pictures.ROOT / "docs").rglob("*.md"))
    used = {name for name, _ in metric_page.PICTURES.values()}
    names = [path.relative_to(pictures.ASSETS).as_posix() for path in DRAWN]
    assert [name for name in names if f"assets/{name})" not in pages and name not in used] == []


@pytest.mark.parametrize("name", ["search.svg", "recommender.svg"])
def test_values_of_the_small_tables_are_in_their_pictures(name):
    found = sqlrank.evaluate(
        ["MRR", "Recall@3", "nDCG@3"],
        run=f"SELECT * FROM '{SMALL / 'run.csv'}' LIMIT 4",
        qrels=f"SELECT * FROM '{SMALL / 'qrels.csv'}' LIMIT 4",
    )
    texts = read_texts(name)
    for metric, value in found.to_pylist()[0].items():
        assert f"{metric} = {value:.2f}" in texts


def test_values_of_a_question_are_in_its_picture():
    row = json.loads(ANSWERS.read_text("utf-8").splitlines()[1])
    texts = read_texts("answers.svg")
    shown = row["retrieved_ids"][:5]
    assert [text for text in texts if text.startswith("chunk-")] == [*shown, *row["gold_ids"]]
    found = sqlrank.evaluate(
        ["MRR", "Recall@5", "nDCG@5"],
        inputs={"answers": [{"query_id": "q", "retrieved": shown, "relevant": row["gold_ids"]}]},
    )
    for metric, value in found.to_pylist()[0].items():
        assert f"{metric} = {value:.2f}" in texts


def test_pairs_of_the_small_predictions_are_in_the_picture_of_auc():
    value = sqlrank.evaluate("AUC", predictions=str(SMALL / "predictions.csv"))["AUC"][0].as_py()
    texts = read_texts("auc.svg")
    shares = [float(text) for text in texts if text in {"0", "1"}] + [0.5] * texts.count("0.5")
    assert f"AUC = {sum(shares):g} / {len(shares)} pairs = {value:.4f}" in texts


def test_lifts_of_an_experiment_are_in_their_picture():
    data = pictures.ROOT / "examples" / "data" / "checkout" / "users.csv"
    *rows, _ = sqlrank.experiment(
        ["Mean(orders)", "Mean(revenue)"],
        data=str(data),
        unit="user_id",
        variant="arm",
        control="control",
    ).to_pylist()
    names = ("relative_ci_low", "relative_difference", "relative_ci_high")
    assert [f"{row[name]:+.0%}" for row in rows for name in names] == [
        text for text in read_texts("experiment.svg") if re.fullmatch(r"[+-]\d+%", text)
    ]


def test_pictures_of_metrics_exist_and_say_what_they_show():
    shown = set(sqlrank.metrics()["name"].to_pylist())
    for metric, (name, about) in metric_page.PICTURES.items():
        assert any(item in {metric, f"{metric}@k"} for item in shown)
        assert (pictures.ASSETS / name).is_file()
        assert about.endswith(".")
