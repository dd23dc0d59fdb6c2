"""Pictures of the documentation are those that website.pictures draws, and name metrics that
exist.
"""

import pytest

import sqlrank
from website import metric_page, pictures


@pytest.mark.slow
def test_pictures_are_as_drawn_and_used() -> None:
    pages = "".join(path.read_text("utf-8") for path in (pictures.ROOT / "docs").rglob("*.md"))
    used = {name for name, _ in metric_page.PICTURES.values()}
    for name, draw in pictures.list_pictures().items():
        assert (pictures.ASSETS / name).read_text("utf-8") == draw(), (
            "run python -m website.pictures"
        )
        assert f"assets/{name})" in pages or name in used


def test_the_chooser_names_metrics() -> None:
    names = [
        name
        for questions in pictures.CHOICES.values()
        for metrics in questions.values()
        for name in metrics
    ]
    assert len(names) > 20
    canonical = {"MRR": "RR", "HitRate@10": "Success@10", "MAP": "AP"} | {
        "Precision@10": "P@10",
        "Recall@100": "R@100",
    }
    assert [str(sqlrank.parse(name)) for name in names] == [
        canonical.get(name, name) for name in names
    ]


def test_pictures_of_metrics_exist_and_say_what_they_show() -> None:
    shown = set(sqlrank.metrics()["name"].to_pylist())
    for metric, (name, about) in metric_page.PICTURES.items():
        assert any(item in {metric, f"{metric}@k"} for item in shown)
        assert (pictures.ASSETS / name).is_file()
        assert about.endswith(".")
