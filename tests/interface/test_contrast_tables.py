"""The compact table of comparisons, gates, drift and experiments: its columns, its line on the
method, and its forms in a narrow terminal.
"""

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.output.display import text_width
from sqlrank.output.result_formats import Format, TableStyle, format_result
from tests.interface.command_line import ROOT
from tests.tables import build_table

RAG = ROOT / "examples" / "data" / "rag"
LONG, WIDE = "a_reranker_of_passages_with_forty_letters", "検索システムの改良版と再順位付け"
STATISTICS = {
    "value": 0.75,
    "difference": 0.25,
    "ci_low": 0.125,
    "ci_high": 0.375,
    "p_adjusted": 0.00004,
    "ci_level": 0.975,
}


def make_rows(
    pairs: Sequence[tuple[str, str]],
    groups: Sequence[dict[str, Any]] = ({},),
    metrics: Sequence[str] = ("AP",),
) -> list[dict[str, Any]]:
    """Return rows of a comparison that the second system of each pair wins."""
    return [
        {**group, "metric": metric, "baseline": baseline, "system": system, "value_baseline": 0.5, **STATISTICS,
         "n_units": 60, "wins": 40, "winner": system, "test": "t", "reason": None}
        for group in groups for metric in metrics for baseline, system in pairs
    ]  # fmt: skip


def lay_out(
    rows: list[dict[str, Any]], width: int | None = 80, form: Format = Format.table, **metadata: str
) -> list[str]:
    texts = {"sqlrank.confidence": "0.95", "sqlrank.correction": "holm"} | {
        "sqlrank.unit": "query_id",
        **metadata,
    }
    return format_result(
        pa.Table.from_pylist(rows).replace_schema_metadata(texts),
        form,
        TableStyle(is_command=True),
        width,
    ).splitlines()


@pytest.mark.slow
def test_a_pair_has_a_column_per_system_and_a_line_on_the_method():
    files = {"baseline": str(RAG / "baseline.jsonl"), "candidate": str(RAG / "candidate.jsonl")}
    columns = {"retrieved": "retrieved_ids", "relevant": "gold_ids"}
    result = sqlrank.compare(
        ["nDCG@5", "MRR", "Recall@5"], inputs={"answers": files}, columns=columns
    )
    assert format_result(result, Format.table, TableStyle(is_command=True), 79).splitlines() == [
        "metric    baseline  candidate  difference          interval        p  winner",
        "nDCG@5      0.4417     0.7106     +0.2690  0.1542 to 0.3837  <0.0001  candidate",
        "MRR         0.3517     0.6561     +0.3044  0.1849 to 0.4240  <0.0001  candidate",
        "Recall@5    0.7389     0.8889     +0.1500  0.0445 to 0.2555   0.0009  candidate",
        "Paired t-test of 60 queries, p by Holm, intervals at 98.33%.",
        "All columns: --format csv",
    ]
    assert result["winner"].to_pylist() == ["candidate"] * 3
    assert result["ci_level"].to_pylist() == pytest.approx([1 - 0.05 / 3] * 3)


def test_several_systems_have_a_row_each_below_their_baseline():
    rows = make_rows(
        [("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid")], metrics=["AP", "RR"]
    )
    rows[4]["winner"] = None
    assert lay_out(rows) == [
        "against bm25:",
        "metric  system   value  difference          interval        p  winner",
        "AP      bm25    0.5000",
        "AP      dense   0.7500     +0.2500  0.1250 to 0.3750  <0.0001  dense",
        "AP      hybrid  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  hybrid",
        "RR      bm25    0.5000",
        "RR      dense   0.7500     +0.2500  0.1250 to 0.3750  <0.0001  dense",
        "RR      hybrid  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  none",
        "",
        "hybrid against dense:",
        "metric   dense  hybrid  difference          interval        p  winner",
        "AP      0.5000  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  hybrid",
        "RR      0.5000  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  hybrid",
        "Paired t-test of 60 queries, p by Holm, intervals at 97.5%.",
        "All columns: --format csv",
    ]


def test_a_baseline_whose_value_differs_between_pairs_has_a_table_per_pair():
    """Units without a value of one system are left out of its pair only."""
    rows = make_rows([("bm25", "dense"), ("bm25", "hybrid")])
    rows[1]["value_baseline"] = 0.375
    title, first, _, _, _, second, third = lay_out(rows)[:7]
    assert title == "dense against bm25:"
    assert first.split()[:3] == ["metric", "bm25", "dense"]
    assert second.split()[:3] == ["metric", "bm25", "hybrid"]
    assert third.split()[:3] == ["AP", "0.3750", "0.7500"]


@pytest.mark.parametrize(
    "names",
    [
        (LONG, f"{LONG}_2"),
        (WIDE, f"{WIDE}2"),
        ("A", LONG),
        (LONG, WIDE, "bm25"),
        (LONG, f"{LONG}_2", f"{LONG}_3"),
    ],
)
@pytest.mark.parametrize(
    "groups", [[{}], [{"intent": "how-to"}, {"intent": "reference"}], [{"c": WIDE}, {"c": LONG}]]
)
def test_every_form_fits_into_80_columns(names, groups):
    pairs = [(names[0], name) for name in names[1:]]
    rows = make_rows(pairs, groups, ["nDCG(gain=exp2, discount=natural)@10", "Recall@5"])
    lines = lay_out(rows)
    assert max(map(text_width, lines)) <= 80
    text = "\n".join(lines)
    assert [name for name in names if name not in text] == []
    assert all(str(value) in text for group in groups for value in group.values())
    assert text.count("+0.2500  0.1250 to 0.3750  <0.0001") == len(rows), (
        "numbers of a row are in a line"
    )


def test_letters_of_long_names_are_those_of_no_system_and_explained():
    lines = lay_out(make_rows([("A", LONG)]))
    assert lines[0].split() == ["metric", "A", "B", "difference", "interval", "p", "winner"]
    assert lines[1].split()[-1] == "B"
    assert lines[2] == f"B: {LONG}"


def test_groups_of_extremes_have_letters_if_their_names_do_not_fit():
    groups = [f"{name}_and_its_accessories_and_spare_parts" for name in ("cars", "boats")]
    result = sqlrank.evaluate(
        "Positives",
        predictions=build_table(label="0 1 1", score="0.5 0.5 0.5", g=[groups[0], *groups[1:], groups[1]]),
        across="g",
    )  # fmt: skip
    lines = format_result(result, Format.table, TableStyle(is_command=True), 60).splitlines()
    assert lines[1].split()[-6:-2] == ["0.0000", "(A)", "2", "(B)"]
    assert lines[2:4] == [f"A: {groups[0]}", f"B: {groups[1]}"]


def test_groups_have_a_table_each_if_their_column_does_not_fit():
    rows = make_rows(
        [("baseline", "candidate")],
        [{"intent": "how-to"}, {"intent": "reference"}],
        ["nDCG@5", "MRR", "AP"],
    )
    wide = lay_out(rows, 96)
    assert wide[0].split()[:2] == ["intent", "metric"]
    narrow = lay_out(rows, 80)
    assert [narrow.index(f"intent={intent}") for intent in ("how-to", "reference")] == [0, 6]
    assert narrow[1].split()[0] == "metric"
    one = [row for row in rows if row["metric"] == "AP"]
    assert lay_out(one, 90)[0].split()[:2] == ["intent", "metric"]
    assert lay_out(one, 80)[:2] == [
        "AP",
        "intent     baseline  candidate  difference          interval        p  winner",
    ]


def test_rows_stay_together_below_letters_before_each_has_a_table():
    rows = make_rows(
        [("score_logistic", "score_boosting")],
        [{"policy": "bts"}, {"policy": "random"}],
        ["AUC", "LogLoss"],
    )
    assert lay_out(rows)[:7] == [
        "policy  metric        A       B  difference          interval        p  winner",
        "bts     AUC      0.5000  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  B",
        "bts     LogLoss  0.5000  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  B",
        "random  AUC      0.5000  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  B",
        "random  LogLoss  0.5000  0.7500     +0.2500  0.1250 to 0.3750  <0.0001  B",
        "A: score_logistic",
        "B: score_boosting",
    ]


def test_a_remark_names_the_baseline_where_systems_have_several():
    pairs = [("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid")]
    rows = make_rows(pairs, metrics=["AP", "RR"])
    of_pair = [row | {"reason": "equal" if row["baseline"] == "dense" else None} for row in rows]
    assert "hybrid against dense: equal." in lay_out(of_pair)
    of_row = [
        row | {"reason": "equal" if row["metric"] == "AP" else None}
        for row in of_pair
        if row["system"] == "hybrid"
    ]
    assert "AP: equal." in lay_out(of_row)
    of_row[0]["reason"] = None
    assert [line for line in lay_out(of_row) if line.endswith("equal.")] == [
        f"AP hybrid against {of_row[1]['baseline']}: equal."
    ]


def test_undefined_statistics_are_left_out_where_no_row_has_them_and_reasons_are_named_once():
    undefined = dict.fromkeys(("ci_low", "ci_high", "p_adjusted", "ci_level", "winner"))
    rows = [
        row | undefined | {"reason": "no interval: fewer than two units", "test": None}
        for row in make_rows([("a", "b")], metrics=["AP", "RR"])
    ]
    assert lay_out(rows) == [
        "metric       a       b  difference  winner",
        "AP      0.5000  0.7500     +0.2500  none",
        "RR      0.5000  0.7500     +0.2500  none",
        "Every row: no interval: fewer than two units.",
        "60 queries. All columns: --format csv",
    ]
    defined = make_rows([("a", "b")], metrics=["P@5"])
    assert lay_out([*rows, *defined])[4:] == [
        "AP, RR: no interval: fewer than two units.",
        "Paired t-test of 60 queries, p by Holm, intervals at 97.5%.",
        "All columns: --format csv",
    ]
    many = make_rows([("a", "b")], [{"g": f"g{number}"} for number in range(8)])
    assert "6 rows: equal." in lay_out(
        [row | {"reason": "equal" if number < 6 else None} for number, row in enumerate(many)]
    )


def test_an_interval_of_a_difference_is_cut_at_the_range_of_its_metric():
    """Of a metric from 0 to 1, no difference is beyond -1 and 1; files keep the interval of the t
    distribution.
    """
    run = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(3)}
    other = {"q0": {"a": 1.0, "b": 2.0}, "q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0}}
    result = sqlrank.compare(
        ["RR", "DCG@3"], run={"old": run, "new": other}, qrels={query: {"a": 1} for query in run}
    )
    lines = [
        line.split() for line in format_result(result, Format.table, TableStyle()).splitlines()
    ]
    low, high = (result[name].to_pylist() for name in ("ci_low", "ci_high"))
    assert low[0] < -1 < 1 < high[0]
    assert lines[1][4:7] == ["-1.0000", "to", "1.0000"]
    assert lines[2][4:7] == [f"{low[1]:.4f}", "to", f"{high[1]:.4f}"], "gains have no greatest sum"
    assert format_result(result, Format.csv, TableStyle()).splitlines()[1].split(",")[6] == str(
        low[0]
    )


def test_a_gate_with_a_stored_baseline_knows_the_ranges_of_its_metrics():
    run = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(3)}
    worse = {"q0": {"a": 1.0, "b": 2.0}, "q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0}}
    qrels = {query: {"a": 1} for query in run}
    stored = sqlrank.evaluate("MRR", run=run, qrels=qrels, per_query=True)
    result = sqlrank.gate("MRR", run=worse, qrels=qrels, baseline=stored, min_units=2)
    assert result["ci_low"][0].as_py() < -1
    lines = format_result(result, Format.table, TableStyle(), 79).splitlines()
    assert lines[0].split() == [
        "metric", "baseline", "candidate", "difference", "interval", "verdict",
    ]  # fmt: skip
    assert lines[1].split()[:5] == ["MRR", "1.0000", "0.5000", "-0.5000", "-1.0000"]


def test_a_significant_difference_without_a_better_direction_differs():
    measures = '{"AP": {"unit": "", "better": "neither"}}'
    rows = [row | {"winner": None} for row in make_rows([("a", "b")])]
    assert lay_out(rows, **{"sqlrank.measures": measures})[1].split()[-1] == "differs"
    rows = [row | {"p_adjusted": 0.2, "ci_low": -0.1} for row in rows]
    assert lay_out(rows, **{"sqlrank.measures": measures})[1].split()[-1] == "none"


@pytest.mark.parametrize(
    ("test", "metadata", "method"),
    [
        (
            "wilcoxon",
            {},
            "Wilcoxon's signed-rank test of 60 queries, p by Holm, intervals at 97.5%.",
        ),
        (
            "sign",
            {"sqlrank.correction": "bh"},
            "Sign test of 60 queries, p by Benjamini-Hochberg, intervals at 97.5%.",
        ),
        (
            "randomization",
            {"sqlrank.correction": "max_t"},
            "Randomization test of 60 queries, p by Westfall-Young, intervals at 97.5%.",
        ),
        ("t", {"sqlrank.correction": "none"}, "Paired t-test of 60 queries, intervals at 97.5%."),
    ],
)
def test_the_method_is_named(test, metadata, method):
    rows = [row | {"test": test} for row in make_rows([("a", "b")], metrics=["AP", "RR"])]
    assert lay_out(rows, 100, **metadata)[-1] == f"{method} All columns: --format csv"


def test_verdicts_have_one_tolerance_below_and_several_in_a_column():
    gate = [
        {"metric": metric, "baseline": "a", "system": "b", "value_baseline": 0.5, "value": 0.25, "difference": -0.25, "ci_low": -0.5,
         "ci_high": 0.0, "n_units": 30, "wins": 3, "tolerance": "0.01", "verdict": "inconclusive", "reason": "too wide", "required_units": units}
        for metric, units in (("AP", 116), ("RR", 1092))
    ]  # fmt: skip
    assert lay_out(gate, 79) == [
        "metric       a       b  difference           interval  verdict",
        "AP      0.5000  0.2500     -0.2500  -0.5000 to 0.0000  inconclusive",
        "RR      0.5000  0.2500     -0.2500  -0.5000 to 0.0000  inconclusive",
        "Every row: too wide.",
        "Required sample size: AP 116 queries, RR 1,092 queries.",
        "30 queries, intervals at 95%, absolute tolerance 0.01.",
        "All columns: --format csv",
    ]
    gate[1]["tolerance"] = "2%"
    assert lay_out(gate, 79)[0].split()[-2:] == ["tolerance", "verdict"]
    drift = [
        {
            "metric": "AUC",
            "value_reference": 0.5,
            "value_current": 0.75,
            "difference": 0.25,
            "bound_low": 0.2,
            "bound_high": 0.3,
        }
    ]
    assert lay_out(drift)[0].split() == ["metric", "reference", "current", "difference", "bounds"]
    exact = [drift[0] | {"bound_low": 0.25, "bound_high": 0.25}]
    assert lay_out(exact)[0].split() == ["metric", "reference", "current", "difference"]
    assert lay_out([*drift, *exact])[2].split()[-2:] == ["+0.2500", "exact"]
    decided = [
        drift[0] | {"metric": verdict, "verdict": verdict, "reason": f"reason of {verdict}"}
        for verdict in ("pass", "fail", "inconclusive", "skipped")
    ]
    assert lay_out(decided)[5:7] == [
        "inconclusive: reason of inconclusive.",
        "skipped: reason of skipped. All columns: --format csv",
    ]
    assert lay_out([drift[0] | {"ci_low": 0.1, "ci_high": 0.4}])[0].split()[-1] == "interval"


def test_colors_say_who_wins_and_what_fails(monkeypatch):
    monkeypatch.setattr("sqlrank.output.result_formats.supports_color", lambda: True)
    rows = make_rows([("a", "b")], metrics=["AP", "RR", "P@5"])
    rows[1]["winner"], rows[2]["winner"] = "a", None
    assert [re.findall(r"\x1b\[(3\d)m(\w+)", line) for line in lay_out(rows)[1:4]] == [
        [("32", "b")],
        [("31", "a")],
        [],
    ]
    verdicts = [
        {
            "metric": verdict,
            "value_reference": 0.5,
            "value_current": 0.75,
            "difference": 0.25,
            "tolerance": "5%",
            "verdict": verdict,
        }
        for verdict in ("pass", "fail", "inconclusive", "skipped")
    ]
    colors = [re.findall(r"\x1b\[(3\d)m(\w+)", line) for line in lay_out(verdicts)[1:5]]
    assert colors == [[("32", "pass")], [("31", "fail")], [("33", "inconclusive")], []]


def test_many_verdicts_with_one_reason_are_named_by_the_verdict():
    rows = [
        {"campaign": number, "metric": "AUC", "value_reference": 0.5, "value_current": 0.75, "difference": 0.25, "ci_low": 0.1, "ci_high": 0.4,
         "tolerance": "5%", "verdict": "inconclusive" if number < 7 else "skipped", "reason": "too wide" if number < 7 else "no rows"}
        for number in range(8)
    ]  # fmt: skip
    assert lay_out(rows)[9:11] == ["inconclusive: too wide.", "campaign=7: no rows."]


def test_a_sentence_of_several_rows_is_shown_once_for_all_of_a_group_or_metric():
    by_shop = {"a": "unseen losses", "b": "few units"}
    rows = [
        row | {"reason": f"worse. {by_shop[row['shop']]}{'. tied' * (row['metric'] == 'RR')}"}
        for row in make_rows([("x", "y")], [{"shop": "a"}, {"shop": "b"}], ["AP", "RR"])
    ]
    assert lay_out(rows)[5:9] == [
        "Every row: worse.", "shop=a: unseen losses.", "RR: tied.", "shop=b: few units.",
    ]  # fmt: skip


@pytest.mark.parametrize(("form", "comment"), [(Format.markdown, ""), (Format.latex, "% ")])
def test_markup_has_the_columns_of_the_terminal(form, comment):
    rows = [
        row | {"relative_difference": 0.5, "relative_ci_low": 0.25, "relative_ci_high": None}
        for row in make_rows([("a", "b|c")])
    ]
    gate = [
        {name: value for name, value in row.items() if name not in {"winner", "p_adjusted"}}
        | {"verdict": "pass"}
        for row in rows
    ]
    lines = lay_out(gate, None, form)
    separator = "|" if form is Format.markdown else "&"
    header = next(line for line in lines if "difference" in line)
    assert [name.strip(" \\|") for name in header.replace(r"b\|c", "b/c").replace(r"b\textbar{}c", "b/c").strip("|").split(separator)] == [
        "metric", "a", "b/c", "difference", "interval", "verdict",
    ]  # fmt: skip
    assert lines[-1].startswith(f"{comment}60 queries, intervals at")
