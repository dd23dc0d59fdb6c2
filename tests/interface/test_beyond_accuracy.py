"""Metrics beyond accuracy on the command line, as text for each engine and as a model, and in the
search.
"""

import itertools
import json
from pathlib import Path

import pytest

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.golden.reading import find_faults
from tests.interface.command_line import run_command
from tests.numbers.references.recommendations import write_cutoff
from website.sections import group_by_section

METRICS = [file.display_name for file in group_by_section()["recommendation"]]
ROLES = ("history", "items", "features", "baseline")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two lists, a history, and a catalog of four items, as arguments of the command."""
    held = {
        "run": "query_id,doc_id,score\n1,a,2\n1,b,1\n2,a,2\n2,c,1\n",
        "history": "query_id,doc_id\n1,a\n3,a\n",
        "items": "doc_id,provider\na,X\nb,X\nc,Y\nd,Y\n",
    }
    for name, text in held.items():
        (tmp_path / f"{name}.csv").write_text(text, "utf-8")
    others = [
        part
        for name in ("history", "items")
        for part in ("--input", f"{name}={tmp_path / name}.csv")
    ]
    return ["--run", str(tmp_path / "run.csv"), *others]


def test_the_command_takes_further_inputs(files):
    shown = run_command(
        "evaluate", "CatalogCoverage", "Unseen@2", "MeanPopularity@1", *files, "--format", "json"
    )
    assert json.loads(shown) == [
        {"CatalogCoverage": 0.75, "Unseen@2": 0.75, "MeanPopularity@1": 2.0}
    ]


def test_the_command_shows_providers(files):
    shown = run_command("evaluate", "ProviderExposure(discount=none)@2", *files, "--format", "csv")
    assert shown == "point,provider,exposure_share,catalog_share\n1,X,0.75,0.5\n2,Y,0.25,0.5\n"


@pytest.mark.slow
def test_a_word_finds_them():
    assert "CatalogCoverage" in sqlrank.metrics(search="catalog")["name"].to_pylist()
    assert sqlrank.metrics(search="miuf")["name"].to_pylist() == ["SelfInformation"]
    assert str(sqlrank.parse("ARP@10")) == "MeanPopularity@10"


@pytest.mark.one_in(21)
@pytest.mark.parametrize(
    ("dialect", "by"), list(itertools.product(DIALECTS, [(), "system", [["system"], []]])), ids=str
)
def test_nothing_is_written_that_nobody_reads(dialect, by):
    metrics = [name + write_cutoff(name, 5) for name in METRICS]
    text = sqlrank.sql(
        metrics,
        run="run",
        qrels="qrels",
        inputs={role: role for role in ROLES},
        by=by,
        dialect=dialect,
    )
    assert dialect == "datafusion" or find_faults(text, DIALECTS[dialect].sqlglot_name) == []


def test_values_that_are_not_read_are_named_in_the_header():
    options = {"run": "run", "inputs": {"features": "features"}, "dialect": "bigquery"}
    line = (
        "-- features: value is taken to be 1, since the table cannot be looked at. Map features.value"
        " to a\n--   column to read it\n"
    )
    assert line in sqlrank.sql("CategoryEntropy", **options)
    assert "-- features" not in sqlrank.sql(
        "CategoryEntropy", columns={"features.value": "value"}, **options
    )
    assert "-- features" not in sqlrank.sql("num_shown", run="run", dialect="bigquery")


def test_no_pair_of_lists_is_formed():
    text = sqlrank.sql("Personalization@10", run="run", dialect="bigquery")
    assert text.count("JOIN") == 1  # a list with its query
    assert "qrels" not in text


def test_a_model_for_dbt():
    model = sqlrank.dbt_model(
        "CatalogCoverage@10", "coverage", run="served", inputs={"items": "shop.items"}, by="day"
    )
    assert "{{ ref('served') }}" in model.sql
    assert "{{ source('shop', 'items') }}" in model.sql
