"""Words that people search for lead to their metric, policy, command or page, among the first two
results.
"""

import re
from functools import cache
from time import process_time
from typing import Any

import pytest

import sqlrank
from sqlrank.options import load_commands
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_info import SearchEntry, list_entries, search_entries, split_words
from sqlrank.registry.sql_folder import read_toml, sql_root
from tests.interface.command_line import ROOT, invoke_command, run_command, run_refused_command

WORDS = read_toml(sql_root() / "settings" / "search.toml")

EXPECTED = {
    "hold-out": "sqlrank split",
    "validation": "sqlrank split",
    "train test split": "sqlrank split",
    "cross-validation": "sqlrank split",
    "data leakage": "sqlrank split",
    "elbow": "Elbow@k",
    "how many results should I show": "Elbow@k",
    "sliding window": "sqlrank rollup",
    "rolling window of 28 days": "sqlrank rollup",
    "Zipf": "ExposureEntropy@k",
    "long tail": "ExposureEntropy@k",
    "stability": "sqlrank drift",
    "population stability index": "sqlrank drift",
    "data drift": "sqlrank drift",
    "average precision at 10": "AP@k",
    "mean average precision": "AP@k",
    "mean reciprocal rank": "RR@k",
    "rank of the first relevant document": "RR@k",
    "dedupe": "sqlrank metrics records",
    "record linkage": "sqlrank metrics records",
    "deduplicate customers": "sqlrank metrics records",
    "significance": "sqlrank compare",
    "p-value": "sqlrank compare",
    "is my new ranker better": "sqlrank compare",
    "multiple comparisons": "sqlrank compare",
    "A/B": "sqlrank experiment",
    "A/B test": "sqlrank experiment",
    "click-through rate": "sqlrank experiment",
    "CUPED": "sqlrank experiment",
    "sample ratio mismatch": "sqlrank experiment",
    "gain over baseline": "NormalizedEntropy",
    "relative information gain": "NormalizedLogLoss",
    "regression test": "sqlrank gate",
    "continuous integration": "sqlrank gate",
    "non-inferiority": "sqlrank gate",
    "confidence intervals": "sqlrank evaluate --confidence",
    "bootstrap": "sqlrank evaluate --confidence",
    "hit rate": "Success@k",
    "hits@k": "Success@k",
    "precision at 5": "P@k",
    "context recall": "R@k",
    "context precision": "AP@k",
    "click probability": "LogLoss",
    "cross entropy": "LogLoss",
    "overpredict": "CalibrationRatio",
    "reliability diagram": "Calibration",
    "ROC AUC": "AUC",
    "concordance index": "AUC",
    "confusion matrix": "Threshold",
    "rank correlation": "KendallTau",
    "AUC per user": "GAUC",
    "popularity bias": "MeanPopularity@k",
    "novelty": "Unseen@k",
    "off-policy evaluation": "sqlrank metrics off_policy",
    "latency p95": "Quantile(column)",
    "pass rate": "Share(column)",
    "equal scores": "--policy ties",
    "missing labels": "--policy nulls",
    "duplicate rows": "--policy duplicates",
    "division by zero": "--policy if_undefined",
    "BigQuery": "sqlrank sql",
    "plot a curve": "sqlrank chart",
    "html dashboard": "sqlrank report",
    "leave one out": "sqlrank split",
    "trec_eval": "docs/compat",
    "RAG": "docs/start/rag",
    "sample size": "sqlrank compare",
    "how many queries do I need": "sqlrank compare",
    "is my click model calibrated": "CalibrationRatio",
    "fairness": "docs/group-differences",
    "rename columns": "docs/inputs",
    "hashing": "sqlrank split",
    "regressed": "sqlrank gate",
    "ROMIP": "docs/start/search",
    "Vowpal Wabbit": "docs/sources",
    "greedy": "alpha_nDCG@k",
}


PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "start").glob("*.md")])


@cache
def entries() -> list[SearchEntry]:
    return list_entries(load_registry())


@pytest.mark.slow
def test_words_lead_to_what_is_meant():
    assert len(EXPECTED) >= 60
    found = {
        query: [row["name"] for row in search_entries(query, entries())[:2]] for query in EXPECTED
    }
    missed = {query: names for query, names in found.items() if EXPECTED[query] not in [*names, *(name.split("@")[0] for name in names)]
              and EXPECTED[query].split("@")[0] not in [name.split("@")[0] for name in names]}  # fmt: skip
    assert missed == {}


def test_words_are_of_entries_that_exist():
    library = load_registry()
    for theirs, sentence in WORDS["other_tools"].items():
        assert library.file_for(library_metric(sentence.partition(": ")[0])), theirs
    assert all(library.file_for(library_metric(name)) for name in WORDS["metrics"])
    assert set(WORDS["policies"]) <= {*library.policies, *library.functions}
    for name in WORDS["topics"]:
        if name.startswith("docs/"):
            assert (ROOT / f"{name}.md").is_file()
        elif name.startswith("sqlrank "):
            assert name.split()[1] in load_commands()


def library_metric(name: str) -> Any:
    for text in (name, f"{name}@5", f"{name}(x)", f"{name}(x, q=0.5)"):
        try:
            return sqlrank.parse(text)
        except sqlrank.MetricError:
            continue
    pytest.fail(f"there is no metric {name}")


def test_the_command_shows_the_best_first():
    lines = run_command("metrics", "regression test").splitlines()
    assert lines[1].split()[:3] == ["sqlrank", "gate", "command"]
    lines = run_command("metrics", "context precision").splitlines()
    assert any("Ragas' context precision is average precision" in line for line in lines[1:3])


def test_a_metric_of_another_tool_is_answered_with_ours():
    result = invoke_command("metrics", "mean reciprocal rank")
    assert result.stdout.startswith("-- RR: ")
    assert "note: mean reciprocal rank is RR here\n" in result.stderr
    result = invoke_command("metrics", "recall")
    assert "note: recall@k, of ranked documents, is R: sqlrank metrics R\n" in result.stderr


def test_a_metric_names_the_settings_of_relations_that_decide_it_too():
    assert invoke_command("metrics", "ndcg").stderr == (
        "note: settings for --policy, the default first\n"
        "    gain=linear, binary, exp2, threshold\n"
        "    discount=log2, geometric, inverse, jarvelin, ln, none, zipf\n"
        "    ideal=judged, retrieved, judged_truncated, binary_k\n"
        "note: aggregate, depth, duplicates, id_type, if_undefined, nulls, queries, ranks,"
        " score_type, ties and unjudged also decide it. sqlrank metrics unjudged says how\n"
        "note: also found: nDCGrel, Rndcg, PnDCG, alpha_nDCG\n"
    )
    assert "note: average, " in invoke_command("metrics", "MultilabelPrecision").stderr


@pytest.mark.slow
def test_words_of_nothing_are_refused():
    assert "unknown metric 'foo'" in run_refused_command("metrics", "foo")
    assert "Did you mean 'nDCG'?" in run_refused_command("metrics", "ndgc")  # as a page quotes it
    for query in ("greedy", "hashing", "regressed", "ROMIP", "Vowpal Wabbit"):
        name = EXPECTED[query].removesuffix("@k")
        assert any(line.startswith(name) for line in run_command("metrics", query).splitlines()), (
            query
        )
    assert "nothing found for 'purple elephants'" in run_refused_command(
        "metrics", "purple elephants"
    )
    assert search_entries("of the", entries()) == []


@pytest.mark.slow
def test_the_function_searches_as_the_command_does():
    for query in ("click probability", "regressed", "greedy"):
        found = sqlrank.metrics(query)["name"].to_pylist()
        assert found == sqlrank.metrics(search=query)["name"].to_pylist() != []
        assert found == [
            line.split("  ")[0]
            for line in (
                run_command("metrics", query, "--format", "csv").replace(",", "  ").splitlines()[1:]
            )
        ]
    assert sqlrank.metrics("purple elephants").num_rows == 0


@pytest.mark.slow
def test_words_of_headings_are_found():
    lines = [
        line
        for page in PAGES
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("#")
    ]
    words = {
        word
        for line in lines
        for word in re.findall(r"[a-z]{5,}", re.sub(r"`[^`]*`", "", line.lower()))
        if split_words(word)
    }
    assert {word for word in words if not search_entries(word, entries())} == set()


def test_the_list_begins_with_rankings_and_ends_families_with_counts():
    rows = sqlrank.metrics().select(["family", "name"]).to_pylist()
    families = list(dict.fromkeys(row["family"] for row in rows))
    assert families[:4] == ["rankings", "predictions", "regression", "curve"]
    assert families[4:] == sorted(families[4:])
    for family in families:
        counts = [row["name"].startswith("num_") for row in rows if row["family"] == family]
        assert counts == sorted(counts), family


def test_a_search_takes_a_part_of_a_second():
    entries()
    start = process_time()
    search_entries("greedy merged models", entries())
    search_entries("quality of my ranking", list_entries(load_registry()))
    assert process_time() - start < 0.6, "of two searches, one of which reads all entries"
