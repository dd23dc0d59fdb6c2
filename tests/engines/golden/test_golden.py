"""Printed statements as whole texts, to be read: ``pytest tests/engines/golden --rewrite-golden`` rewrites
them.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.golden.header import read_header
from tests.engines.golden.reading import find_faults
from tests.engines.golden.test_all_metrics import all_faults

GOLDEN = Path(__file__).parent
SCENARIOS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "rankings": (
        ["nDCG@10", "AP", "RR"],
        {
            "run": "shop.eval.recommended",
            "qrels": "shop.eval.bought",
            "queries": "shop.eval.users",
            "columns": {
                "query_id": "user_id",
                "doc_id": "item_id",
                "score": "predicted",
                "relevance": "stars",
                "weight": "revenue",
            },
            "by": "model",
            "where": "run.day = '2026-01-01' AND qrels.day = '2026-01-01'",
            "aggregate": "wmean",
        },
    ),
    "predictions": (
        ["AUC", "APS", "LogLoss"],
        {
            "predictions": "shop.ads.impressions",
            "columns": {"label": "click", "score": "p_click", "weight": "1 / propensity"},
            "by": "campaign",
            "where": "day = '2026-01-01'",
            "create_table": "shop.ads.daily_metrics",
        },
    ),
    "ndcg_ap": (["nDCG@10", "AP"], {"run": "shop.eval.run", "qrels": "shop.eval.qrels"}),
    "auc_logloss": (
        ["AUC", "LogLoss"],
        {
            "predictions": "shop.ads.impressions",
            "columns": {"label": "click", "score": "p_click"},
            "by": ["campaign", "day"],
        },
    ),
    "kendalltau": (["KendallTau"], {"predictions": "shop.eval.pairs"}),
    "roc": (["ROC"], {"predictions": "shop.ads.impressions"}),
    "beyond": (
        ["CatalogCoverage@10", "Personalization@10"],
        {"run": "shop.eval.shown", "inputs": {"items": "shop.eval.items"}},
    ),
    "together": (["nDCG@10", "AUC"], {"predictions": "shop.eval.predictions", "by": "model"}),
    "logs": (
        ["SNIPS", "DR", "ESS", "MeanWeight"],
        {"inputs": {"logs": "shop.ads.logged"}, "by": "campaign", "confidence": 0.95},
    ),
    "answers": (
        ["nDCG@10", "R@5"],
        {
            "inputs": {"answers": "shop.eval.questions"},
            "columns": {
                "retrieved": "retrieved_ids",
                "relevant": "gold_ids",
                "grades": "gold_grades",
            },
            "by": "intent",
            "where": "day = '2026-01-01'",
        },
    ),
    "interleaved": (
        ["Preference", "num_won_by_b"],
        {"inputs": {"interleaved": "shop.search.sessions"}},
    ),
}
EXPERIMENT: dict[str, Any] = {
    "metrics": {"ctr": "Ratio(clicks, views)", "revenue": "Mean(revenue)"},
    "data": "shop.eval.visits",
    "unit": "user_id",
    "variant": "arm",
    "control": "A",
    "covariates": {"revenue": "revenue_before"},
    "where": "day >= '2026-01-01'",
}
MOST_LINES = {
    ("ndcg_ap", "bigquery"): 95,
    ("auc_logloss", "bigquery"): 100,
    **{("experiment", dialect): 650 for dialect in DIALECTS},
    **{("experiment", dialect): 735 for dialect in ("spark", "databricks")},  # totals are steps
}
"""Lines of at most 100 characters that an analyst is asked to read for what is asked most, and of
an experiment from rows to corrected p-values, of which a third is Student's t; of others 300.
"""

READ_FIRST = ("duckdb", "bigquery")
"""Dialects whose statements are read first; of the others, the lines that neither has."""

RELATIVES = {"databricks": "spark", "redshift": "postgres", "datafusion": "postgres"}
"""Dialects that share most idioms with another one, whose lines are not read a second time."""

SCENARIO_NAMES = (*SCENARIOS, "experiment")
WHOLE = [
    (scenario, dialect)
    for scenario in SCENARIO_NAMES
    for dialect in READ_FIRST
    if dialect == "duckdb" or scenario not in {"experiment", "logs"}  # few lines differ
]
STEP = re.compile(r"(?:WITH |\), )(\w+) AS\b")


@cache
def print_scenario(scenario: str, dialect: str) -> str:
    if scenario == "experiment":
        return sqlrank.experiment_sql(dialect=dialect, **EXPERIMENT) + ";\n"
    metrics, options = SCENARIOS[scenario]
    return sqlrank.sql(metrics, dialect=dialect, **options) + ";\n"


def print_every_scenario(dialect: str) -> dict[str, str]:
    """Return the statements of a dialect by scenario, without those that it cannot have."""
    without_lists = DIALECTS[dialect].write_list_elements is None
    return {
        scenario: print_scenario(scenario, dialect)
        for scenario in SCENARIO_NAMES
        if not (without_lists and scenario == "answers")
    }


def print_idioms(dialect: str) -> str:
    """Return the lines that neither the whole statements nor those of a relative have, once each,
    by scenario and step; names that are quoted in another way are no other line.
    """
    texts = [print_scenario(scenario, whole) for scenario, whole in WHOLE]
    if dialect not in READ_FIRST:
        for other in {"bigquery", RELATIVES.get(dialect, "bigquery")}:
            texts += print_every_scenario(other).values()
    read = {unify_quotes(line) for text in texts for line in text.splitlines()}
    steps: dict[str, list[str]] = {}
    for scenario, text in print_every_scenario(dialect).items():
        step = "result"
        for line in text.splitlines():
            start = STEP.match(line)
            step = start[1] if start else "result" if line == ")" else step
            if unify_quotes(line) not in read and not line.startswith("-- "):
                steps.setdefault(f"-- {scenario}: {step}", []).append(line)
                read.add(unify_quotes(line))
    return "".join("\n".join([title, *lines, ""]) for title, lines in steps.items())


def unify_quotes(line: str) -> str:
    return re.sub(r"[\[\]`]", '"', line)


def check_text(path: Path, text: str, config: pytest.Config) -> None:
    if config.getoption("--rewrite-golden"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, (
        "if the change is meant, read what --rewrite-golden writes"
    )


@pytest.mark.parametrize(("scenario", "dialect"), WHOLE)
def test_statements_are_as_they_were_read(
    scenario: str, dialect: str, pytestconfig: pytest.Config
) -> None:
    text = print_scenario(scenario, dialect)
    check_text(GOLDEN / f"{scenario}_{dialect}.sql", text, pytestconfig)


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect != "duckdb"])
def test_idioms_are_as_they_were_read(dialect: str, pytestconfig: pytest.Config) -> None:
    check_text(GOLDEN / f"idioms_{dialect}.sql", print_idioms(dialect), pytestconfig)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["logs", "answers"])
def test_statements_are_the_same_where_ibis_is_imported(scenario: str) -> None:
    """It changes functions that sqlglot writes for PostgreSQL."""
    program = (
        "import sys, ibis.backends.sql.dialects; from tests.engines.golden.test_golden import"
        f" print_scenario; sys.stdout.write(print_scenario({scenario!r}, 'postgres'))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=GOLDEN.parents[2],
    )
    assert printed.stdout == print_scenario(scenario, "postgres")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_in_a_statement_is_without_need(dialect: str) -> None:
    texts = print_every_scenario(dialect)
    assert {
        scenario: faults
        for scenario, text in texts.items()
        if (faults := all_faults(text.removesuffix(";\n"), dialect))
    } == {}
    lines = {scenario: len(text.splitlines()) for scenario, text in texts.items()}
    assert {
        scenario: count
        for scenario, count in lines.items()
        if count > MOST_LINES.get((scenario, dialect), 300)
    } == {}


@pytest.mark.parametrize(("dialect", "most"), [("bigquery", 500), ("duckdb", 505)])
def test_an_experiment_without_covariates_has_no_step_of_theirs(dialect: str, most: int) -> None:
    text = sqlrank.experiment_sql(
        {"ctr": "Ratio(clicks, views)", "revenue": "Mean(revenue)"},
        data="eval.visits",
        dialect=dialect,
    )
    assert len(text.splitlines()) <= most
    assert "covariate" not in text
    assert find_faults(text, dialect) == []


def test_a_header_says_what_a_statement_is() -> None:
    text = sqlrank.sql(
        ["nDCG", "AP"],
        run="eval.run",
        qrels="eval.qrels",
        by="system",
        compat="trec10",
        confidence=0.9,
        dialect="bigquery",
    )
    assert (
        "".join(f"{line}\n" for line in read_header(text))
        == f"-- sqlrank {sqlrank.__version__} for BigQuery: nDCG, AP, one row per system\n-- reads:"
        " eval.run (run), eval.qrels (qrels)\n-- settings: compat=trec10 (ties=doc_desc,"
        " queries=judged, if_undefined=zero, score_type=float64, id_type=text),"
        " confidence=0.9\n-- plan: rank_method=sort; alternative: rank_method=count, if lists"
        " are long and have at most three judged documents each\n-- qrels: each query_id and"
        " doc_id is taken to have one row, since the table cannot be looked at. Map qrels.subtopic"
        " to a column to merge rows that differ in it\n-- keys: compared columns are taken to have"
        " one type (query_id), since the tables cannot be looked at. Map integers to text where"
        " they meet texts, such as qrels.query_id to CAST(query_id AS STRING)\n-- made by: sqlrank"
        " sql nDCG"
        " AP --compat trec10 --run eval.run --qrels eval.qrels --by system --confidence 0.9"
        " --dialect bigquery\n"
    )


def test_only_lines_that_apply_are_in_a_header() -> None:
    text = sqlrank.sql("Brier", predictions="p")
    assert [line.partition(":")[0] for line in read_header(text)] == [
        f"-- sqlrank {sqlrank.__version__} for DuckDB", "-- reads", "-- predictions", "-- made by"
    ]  # fmt: skip


def test_rows_are_units_where_no_column_of_them_can_be_seen() -> None:
    note = "-- predictions: every row is a unit of intervals, since the table cannot be looked at"
    call = {"predictions": "p", "confidence": 0.95}
    assert note in " ".join(read_header(sqlrank.sql("Brier", **call)))
    for option in ({"unit": "u"}, {"columns": {"predictions.unit_id": "u"}}, {"level": "query"}):
        assert note not in sqlrank.sql("Brier", **call, **option)


def test_one_huge_group_is_spoken_of_where_a_window_is_partitioned() -> None:
    text = sqlrank.sql("AUC", predictions="p", by="day", dialect="spark")
    assert (
        "-- plan: score_order=distinct; alternative: score_order=buckets, if a single group has"
        " more distinct scores than one worker can sort" in read_header(text)
    )
    assert "-- plan: score_order=buckets" in sqlrank.sql("AUC", predictions="p", dialect="spark")
    assert "-- plan: score_order=buckets" in sqlrank.sql(
        "AUC", predictions="p", by=[["day"], []], dialect="spark"
    )
    assert "-- plan: score_order=buckets" in sqlrank.sql(
        "AUC", predictions="p", by="day", plan={"score_order": "buckets"}, dialect="spark"
    )
