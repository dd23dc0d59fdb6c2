"""Explanations: every step with its rows, the expression with its sums, and the value that evaluate
has.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank import InputError
from sqlrank.call.request import Request, ResourceLimits
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import collect_sources
from sqlrank.explanations.explain import explain_queries
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_info import better_direction
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.sql_file import SqlFile
from tests.interface.command_line import app
from tests.tables import build_table, read_columns
from website import examples, sections

RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}}
QRELS = {"q1": {"b": 1, "c": 2, "d": 1}, "q2": {"a": 1}}
CLICKS = build_table(
    query_id="1 1 1 2 2", doc_id="a b c a b", label="0 1 0 1 0", score="0.1 0.4 0.5 0.8 0.8"
)
TREC = Path(__file__).parents[2] / "examples" / "data" / "trec_eval"


@pytest.mark.slow
def test_a_list_step_by_step() -> None:
    found = sqlrank.explain("nDCG@2", query="q1", run=RUN, qrels=QRELS)
    assert (
        found.value
        == sqlrank.evaluate("nDCG@2", run=RUN, qrels=QRELS, per_query=True)["nDCG@2"][0].as_py()
    )
    names = [step.name for step in found.steps]
    assert (
        names.index("ranked_documents")
        < names.index("ideal_ranking")
        < names.index("discounted_gains")
    )
    ranked = next(step for step in found.steps if step.name == "ranked_documents")
    assert ranked.title.endswith("(ranked_documents/in_order.sql)")
    assert ranked.rows.select(["doc_id", "rank"]).to_pylist() == [
        {"doc_id": name, "rank": place} for place, name in enumerate("abc", start=1)
    ]
    discounted = next(step for step in found.steps if step.name == "discounted_gains")
    assert [(row["doc_id"], row["rank"], row["ideal_rank"]) for row in discounted.rows.to_pylist()][
        :2
    ] == [("b", 2, 2), ("c", 3, 1)]
    gain, ideal = found.sums.values()
    assert found.value == pytest.approx(float(gain or 0) / float(ideal or 1))
    answer, *rest = str(found).splitlines()
    assert answer == f"nDCG@2 of query q1 is {found.value:.6g} = 0.63093 / 2.63093"
    # Documents that add nothing to a sum have no number: the shown ones add up to it.
    assert rest == [
        "  nDCG@k = (sum over i <= k of gain(r_i) discount(i)) / the same sum over the ideal order",
        "  0.63093 = sum of discounted_gain where rank <= 2",
        "  2.63093 = sum of ideal_discounted_gain where ideal_rank <= 2", "",
        "ranked list", "rank  doc_id  relevance  discounted_gain",
        "   1  a       unjudged", "   2  b       1                 0.630930", "   3  c       2", "",
        "ideal order", "ideal_rank  doc_id  relevance  ideal_discounted_gain",
        "         1  c               2               2.000000",
        "         2  b               1               0.630930",
    ]  # fmt: skip
    assert found.to_text(60).splitlines()[1:3] == [
        "  nDCG@k = (sum over i <= k of gain(r_i) discount(i)) /",
        "    the same sum over the ideal order",
    ]
    assert "ideal_ranking: " not in str(found)
    assert "\n\nideal_ranking: " in found.to_text(steps=True)
    notebook = found._repr_html_()  # what notebooks call
    assert notebook.startswith(f'<pre style="font-family: monospace">{answer}\n')
    assert f"<summary>{len(found.steps)} steps of the statement</summary>" in notebook


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "policies"),
    [
        ("RR", {"ties": "worst", "if_undefined": "null"}),
        ("nDCG@2", {}),
        ("AP(precision_at=all_ranks)@2", {}),
        ("SetP", {"depth": 2}),
        ("Judged@2", {"queries": "retrieved"}),
        ("Lost@1", {}),
    ],
    ids=str,
)
def test_queries_are_explained_at_once_as_each_by_itself(
    metric: str, policies: dict[str, Any]
) -> None:
    """Also one whose list is empty, one that is not there, and metrics that read the baseline."""
    sources = {"run": RUN, "qrels": {**QRELS, "q3": {"a": 1}}}
    inputs = (
        {"baseline": {"q1": {"b": 2.0, "d": 1.0}, "q2": {"b": 1.0}}}
        if metric.startswith("Lost")
        else None
    )
    plan = {"rank_method": "sort"}
    queries = ("q1", "q2", "q3", "q4")
    call = Request(
        [metric],
        collect_sources(**sources, inputs=inputs),
        per_query=True,
        only_queries=queries,
        plan=plan,
        policies=policies,
    )
    together = explain_queries(resolve_request(call), None, "duckdb", ResourceLimits(), 2)

    def alone(query):
        try:
            return str(
                sqlrank.explain(
                    metric,
                    query=query,
                    max_rows=2,
                    **sources,
                    inputs=inputs,
                    plan=plan,
                    check="off",
                    **policies,
                )
            )
        except InputError as error:
            return str(error)

    assert {query: str(explanation) for query, explanation in together.items()} == {
        query: alone(query) for query in queries
    }
    assert isinstance(together["q4"], str)


@pytest.mark.slow
def test_rows_that_are_left_out() -> None:
    found = sqlrank.explain(
        "AP",
        query=301,
        run=str(TREC / "results.test"),
        qrels=str(TREC / "qrels.rel_level"),
        max_rows=3,
    )
    ranked = next(step for step in found.steps if step.name == "ranked_documents")
    assert (ranked.rows.num_rows, ranked.num_rows) == (3, 500)
    assert "... and 497 more rows" in str(ranked)
    expected = sqlrank.evaluate(
        "AP", run=str(TREC / "results.test"), qrels=str(TREC / "qrels.rel_level"), per_query=True
    ).to_pylist()
    assert found.value == pytest.approx(
        next(row["AP"] for row in expected if row["query_id"] == "301"), rel=1e-12
    )


@pytest.mark.slow
def test_a_query_for_which_nothing_was_retrieved() -> None:
    run = {"q1": {"a": 1.0}}
    found = sqlrank.explain(
        "nDCG@10", query="q2", run=run, qrels={"q1": {"a": 1}, "q2": {"b": 1}}, check="off"
    )
    assert found.value == 0
    assert "nDCG@10 of query q2 is 0" in str(found)
    judged = sqlrank.explain(
        "Judged@10", query="q2", run=run, qrels={"q1": {"a": 1}, "q2": {"b": 1}}, check="off"
    )
    assert (judged.value, set(judged.sums.values())) == (0, {None})


@pytest.mark.slow
def test_all_rows_of_predictions() -> None:
    found = sqlrank.explain("LogLoss", predictions=CLICKS)
    assert found.value == sqlrank.evaluate("LogLoss", predictions=CLICKS)["LogLoss"][0].as_py()
    assert found.query is None
    part = sqlrank.explain("AUC", predictions=CLICKS, where="query_id = 1")
    assert (
        part.value
        == sqlrank.evaluate("AUC", predictions=CLICKS, where="query_id = 1")["AUC"][0].as_py()
        == 0.5
    )
    one = sqlrank.explain("AUC", predictions=CLICKS, query=1)
    assert one.value == 0.5
    given = next(step for step in part.steps if "score" in step.rows.column_names)
    assert given.rows["score"].to_pylist() == [0.5, 0.4, 0.1]


@pytest.mark.slow
def test_a_step_of_nothing_but_lists() -> None:
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    found = sqlrank.explain(
        "CatalogCoverage@1", run=run, inputs={"items": pa.table({"doc_id": list("abcd")})}
    )
    members = next(step for step in found.steps if step.name == "list_groups")
    assert (members.rows.to_pylist(), found.value) == (
        [{"query_id": "q1"}, {"query_id": "q2"}],
        0.25,
    )


def test_undefined() -> None:
    found = sqlrank.explain("AUC", predictions=CLICKS.slice(0, 1))
    assert found.value is None
    assert str(found).startswith(
        "AUC is NULL, which is undefined (predictions of one class only)\n"
    )


@pytest.mark.slow
def test_a_metric_of_a_user(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "depth.sql").write_text(
        "-- Depth: rank of the last relevant document.\n-- Undefined: no relevant document.\nSELECT"
        " list_id, MAX(CASE WHEN relevance > 0 THEN rank END) AS depth FROM judged_documents GROUP"
        " BY list_id\n"
    )
    found = sqlrank.explain("Depth", query="q1", run=RUN, qrels=QRELS, sql_dir=tmp_path)
    assert (found.value, list(found.sums.values()), found.worked) == (3, [3], "3")


@pytest.mark.slow
def test_on_another_engine() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE "the clicks" (label INTEGER, score REAL, "select" TEXT)')
        rows = [
            (label, score, "x'; --")
            for label, score in zip(
                *(CLICKS[name].to_pylist() for name in ("label", "score")), strict=True
            )
        ]
        connection.executemany('INSERT INTO "the clicks" VALUES (?, ?, ?)', rows)
        found = sqlrank.explain("AUC", predictions='"the clicks"', connection=connection)
    assert found.value == pytest.approx(
        sqlrank.evaluate("AUC", predictions=CLICKS)["AUC"][0].as_py()
    )
    assert any("positives" in step.rows.column_names for step in found.steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    "section", [name for name in sections.group_by_section() if name != "curves"]
)
def test_every_metric_can_be_explained(section: str) -> None:
    """No metric has code of its own for it: each has steps, and the value that evaluate has."""
    for file in sections.group_by_section()[section]:
        metric, sources = examples.format_metric(file), name_small_sources(file)
        options = (
            {"query": "q1"}
            if file.grain == "list" and find_input_role(load_registry(), file) == "run"
            else {}
        )
        found = sqlrank.explain(metric, **sources, **options)
        rows = sqlrank.evaluate(metric, **sources, per_query=bool(options)).to_pylist()
        (row,) = [row for row in rows if not options or row["query_id"] == "q1"]
        assert found.value == pytest.approx(row[found.metric], rel=1e-12), metric
        assert found.steps, metric
        if (
            "predictions" in sources
            and better_direction(metric, load_registry()) != "neither"
            and found.value is not None
        ):
            assert found.losses is not None, metric
            assert found.losses.num_rows > 1, metric


def name_small_sources(file: SqlFile) -> dict[str, Any]:
    """Return the small tables that a metric reads, as arguments of a call."""
    tables = {
        role: str(examples.ROOT / examples.TABLES / f"{examples.choose_table(role, file)}.csv")
        for role in examples.list_roles(file)
    }
    own = {role: path for role, path in tables.items() if role in examples.OPTIONS}
    return own | {"inputs": {role: path for role, path in tables.items() if role not in own}}


def test_a_metric_of_a_query_that_reads_what_others_had() -> None:
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    history = pa.table(read_columns(query_id="q1 q2 q3 q3", doc_id="c a a b"))
    found = sqlrank.explain(
        "MeanPopularity", query="q1", run=run, inputs={"history": history}, max_rows=2
    )
    # Two of the three users had a, and one b.
    assert found.value == 1.5
    given = next(step for step in found.steps if step.name == "history_rows")
    assert given.rows.to_pylist() == [
        {"query_id": "q1", "doc_id": "c"},
        {"query_id": "q2", "doc_id": "a"},
    ]
    assert given.num_rows == 4


@pytest.mark.slow
def test_where_the_most_is_lost() -> None:
    # Twenty scores, two in each part; the two positives are above all others but those of the part
    # with 0.15 and 0.16.
    scores = [place / 100 for place in range(1, 21)]
    table = pa.table({"score": scores, "label": [int(place in {13, 17}) for place in range(20)]})
    found = sqlrank.explain("AUC", predictions=table, max_rows=3)
    # Of 36 pairs the positive 0.14 wins 13 and 0.18 wins 16; without 0.15 and 0.16, which cost it
    # two, 29 of 32.
    assert found.value == pytest.approx(29 / 36)
    assert found.losses is not None
    assert found.losses.num_rows == 10
    rows = found.losses.rows.to_pylist()
    assert rows[0]["difference"] == pytest.approx(max(row["difference"] for row in rows))
    by_score = {row["above"]: row for row in rows}
    top = by_score[0.18]
    assert (top["up_to"], top["predictions"]) == (None, 2)
    assert top["without"] == pytest.approx(29 / 32)
    assert top["difference"] == pytest.approx(29 / 32 - 29 / 36)
    assert "... and 7 more rows" in str(found.losses)
    assert found.losses.to_text(null="") in str(found)


def test_lower_is_better_and_equal_scores_stay_together() -> None:
    table = pa.table({"score": [0.5] * 15 + [0.9] * 5, "label": [0, 1] * 7 + [0] + [0] * 5})
    found = sqlrank.explain("Brier", predictions=table, max_rows=20)
    assert found.value == pytest.approx((15 * 0.25 + 5 * 0.81) / 20)
    assert found.losses is not None
    assert found.losses.rows.to_pylist() == [
        {
            "above": 0.5,
            "up_to": None,
            "predictions": 5,
            "without": pytest.approx(0.25),
            "difference": pytest.approx(0.25 - found.value),
        },
        {
            "above": None,
            "up_to": 0.5,
            "predictions": 15,
            "without": pytest.approx(0.81),
            "difference": pytest.approx(0.81 - found.value),
        },
    ]
    # The rows that add most come first.
    assert found.steps[0].rows["term"].to_pylist() == pytest.approx([0.81] * 5 + [0.25] * 15)


@pytest.mark.slow
def test_nothing_is_lost_where_no_value_is_better_or_all_scores_are_equal() -> None:
    assert sqlrank.explain("CalibrationRatio", predictions=CLICKS).losses is None
    assert (
        sqlrank.explain(
            "Brier", predictions=pa.table({"score": [0.5, 0.5], "label": [0, 1]})
        ).losses
        is None
    )
    assert sqlrank.explain("AUC", predictions=CLICKS.slice(0, 1)).losses is None
    one = sqlrank.explain(
        "AUC", predictions=pa.table({"score": [0.2, 0.8], "label": [0, 1]})
    ).losses
    assert one is not None
    assert [(row["without"], row["difference"]) for row in one.rows.to_pylist()] == [
        (None, None)
    ] * 2


def test_the_rows_of_one_cluster() -> None:
    records = pa.table(
        read_columns(record_id="1 2 3 4", predicted_cluster="x x x y", true_cluster="a a b b")
    )
    found = sqlrank.explain(
        "PairwiseRecall", inputs={"records": records}, show_where="true_cluster = 'b'"
    )
    assert found.value == 0.5
    contingency = next(step for step in found.steps if step.name == "contingency_table")
    shown = contingency.rows.select(
        ["predicted_cluster", "true_cluster", "predicted_size", "true_size"]
    ).to_pylist()
    assert [tuple(row.values()) for row in shown] == [("x", "b", 3, 2), ("y", "b", 1, 2)]
    assert contingency.title.endswith("(those where true_cluster = 'b')")
    refused = {
        "a; b": "show_where='a; b' is not one condition over columns",
        "n = $1": r"show_where: \$1 has no value. Write the value itself",
    }
    for show, message in refused.items():
        with pytest.raises(InputError, match=message):
            sqlrank.explain("PairwiseRecall", inputs={"records": records}, show_where=show)


@pytest.mark.slow
def test_the_command() -> None:
    given = [
        "--run", str(TREC / "results.test"), "--qrels", str(TREC / "qrels.rel_level"),
        "--query", "301", "--max-rows", "2",
    ]  # fmt: skip
    shown = CliRunner().invoke(app, ["explain", "RR", *given])
    assert shown.exit_code == 0, shown.output
    assert "FBIS4-50478" in shown.stdout
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("RR of query 301 is ")
    assert lines[-1].endswith(" steps of the statement: --steps")
    assert "ranked_documents: " not in shown.stdout
    all_steps = CliRunner().invoke(app, ["explain", "RR", *given, "--steps"])
    assert all_steps.stdout.startswith(shown.stdout.rpartition("\n\n")[0])
    assert "\nranked_documents: " in all_steps.stdout
    missing = CliRunner().invoke(app, ["explain", "RR", *given[:-4]])
    assert missing.exit_code == 2
    assert "RR is of queries. Name the one to explain with --query" in missing.output


@pytest.mark.slow
def test_the_same_rows_are_shown_however_they_are_given() -> None:
    # All scores are tied, so that only the other columns can say which three of eight rows are
    # shown.
    table = build_table(
        label=[0, 1] * 4, score=[0.5] * 8, query_id="a a b b c c d d", doc_id="h g f e d c b a"
    )
    found = [
        sqlrank.explain("KendallTau", predictions=table.take(places), max_rows=3).to_text(
            steps=True
        )
        for places in ([*range(8)], [*range(7, -1, -1)])
    ]
    assert found[0] == found[1]
    assert "... and 5 more rows" in found[0]


def test_integers_have_no_decimals() -> None:
    found = sqlrank.explain(
        "ECE", predictions=pa.table(read_columns(label="1 0 1", score="0.95 0.05 0.96"))
    )
    bins = next(step for step in found.steps if step.name == "calibration_bins")
    assert str(bins).splitlines()[1:] == [
        "bin  weight  score_sum  label_sum      term",
        "  1       1       0.05          0  0.050000",
        " 10       2       1.91          2  0.090000",
    ]


@pytest.mark.slow
def test_the_mean_of_values_of_queries() -> None:
    table = build_table(label="0 1 0 1 1", score="0.5 0.5 0.9 0.9 0.9", query_id="a a b b b")
    found = sqlrank.explain("Brier", predictions=table, level="query")
    # The value of query a is 0.25, that of b a third of 0.81, 0.01 and 0.01.
    mean = (0.25 + 0.83 / 3) / 2
    assert found.value == pytest.approx(mean)
    assert (found.expression, list(found.sums.values())) == ("AVG(brier)", [pytest.approx(mean)])
    assert next(step for step in found.steps if step.name == "query_values").num_rows == 2
    assert found.losses is not None
    # Without the scores up to 0.5 query a has none, and what is left is b.
    assert found.losses.rows["without"].to_pylist() == [
        pytest.approx(0.25),
        pytest.approx(0.83 / 3),
    ]
    one = sqlrank.explain("AUC", predictions=table, query="a", level="query")
    assert (one.value, list(one.sums.values())) == (0.5, [0.5, 0.5])
