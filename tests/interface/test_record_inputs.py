"""Records with clusters as inputs: errors, joins, every engine, and the command."""

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError, MetricError
from tests.interface.advice import follow, follow_command, paste_command
from tests.interface.command_line import run_command, run_refused_command
from tests.numbers.examples.records import (
    BLOCKS,
    PREDICTED,
    TRUE,
    make_clustering,
    make_pairs,
    make_records,
)
from tests.tables import read_columns

METRICS = ["PairwiseF", "AdjustedRand", "num_records"]
EXPECTED = pytest.approx({"PairwiseF": 0.4, "AdjustedRand": 0.312775330, "num_records": 13})


def evaluate(metrics: Any = "PairwiseF", **arguments: Any) -> list[dict[str, Any]]:
    roles = ("records", "predicted_clusters", "true_clusters", "candidate_pairs")
    inputs = {role: arguments.pop(role) for role in roles if role in arguments}
    return sqlrank.evaluate(metrics, inputs=inputs, **arguments).to_pylist()


def find_problem(**arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        evaluate(**arguments)
    return str(caught.value)


# What is refused


def test_records_may_occur_once_in_each_group():
    table = make_records("abab", "xyxy", ids=[1, 2, 1, 2], system=["s", "s", "t", "t"])
    assert [
        row["ClusterRecall"] for row in evaluate("ClusterRecall", records=table, by="system")
    ] == [1.0, 1.0]
    assert "record_id is listed more than once" in find_problem(records=table)


@pytest.mark.parametrize(
    ("policy", "column"),
    [("missing_prediction", "predicted_cluster"), ("missing_truth", "true_cluster")],
)
def test_records_without_a_cluster_may_be_refused(policy, column):
    table = make_records("aab", "xxy").append_column("other", pa.array(["a", None, "c"]))
    assert evaluate(records=table, **{policy: "error"})
    assert find_problem(records=table, columns={column: "other"}, **{policy: "error"}).startswith(
        f"PairwiseF: 1 records: {column} is NULL, and {policy}='error'. Choose {policy}="
    )
    assert (
        find_problem(
            metrics=["PairwiseF", "Rand"],
            records=table,
            columns={column: "other"},
            **{policy: "error"},
        ).count("\n")
        == 0
    )


def test_clusters_of_any_type():
    """Names of the two sides are never compared, so that they need not be of one type."""
    assert evaluate(records=make_records([1, 1, 2], ["x", "x", "y"])) == [{"PairwiseF": 1.0}]
    assert evaluate(records=make_records([1.5, 1.5, 2.0], [True, True, False])) == [
        {"PairwiseF": 1.0}
    ]


def test_what_has_no_meaning_for_records():
    refusals = {
        "PairwiseF(level=query)": "PairwiseF has no parameter 'level'",
        "PairwiseF(missing_prediction=drpo)": (
            "unknown missing_prediction 'drpo'. Did you mean 'drop'? Choose from: singleton, drop,"
            " error"
        ),
        "PairwiseF(beta=-1)": "beta is -1. It must be a number from 0",
    }
    for metric, message in refusals.items():
        with pytest.raises(MetricError) as caught:
            evaluate(metric, records=make_records())
        assert message in str(caught.value)


# predicted_clusters and true_clusters


def pair_clusterings(**options: Any) -> dict[str, Any]:
    return {
        "predicted_clusters": make_clustering(PREDICTED),
        "true_clusters": make_clustering(TRUE),
        **options,
    }


def test_two_tables_are_joined():
    assert evaluate(METRICS, **pair_clusterings()) == [EXPECTED]


def test_a_record_may_be_in_one_of_them():
    """Record 3 was not predicted, and 9 is not in the benchmark."""
    tables = {
        "predicted_clusters": make_clustering("aabb", ids=[1, 2, 4, 9]),
        "true_clusters": make_clustering("xxxy", ids=[1, 2, 3, 4]),
    }
    metrics = [
        "num_records", "num_unplaced", "num_unlabelled", "num_predicted_links",
        "PairwiseRecall",
    ]  # fmt: skip
    assert list(evaluate(metrics, **tables)[0].values()) == [4, 1, 1, 1, 1 / 3]
    assert list(
        evaluate(metrics, **tables, missing_prediction="drop", missing_truth="singleton")[
            0
        ].values()
    ) == [4, 1, 1, 2, 1.0]


SYSTEMS = make_clustering(
    [*PREDICTED, *PREDICTED[:9], "z"],
    ids=[*range(13), *range(9), 99],
    system=[*["one"] * 13, *["two"] * 10],
)


def test_a_reference_is_that_of_every_system():
    one, two = evaluate(
        [*METRICS, "num_unplaced", "num_unlabelled"],
        predicted_clusters=SYSTEMS,
        true_clusters=make_clustering(TRUE),
        by="system",
    )
    assert {name: one[name] for name in METRICS} == EXPECTED
    assert (two["num_records"], two["num_unplaced"], two["num_unlabelled"]) == (13, 4, 1)
    alone = evaluate(
        METRICS,
        predicted_clusters=make_clustering(PREDICTED[:9]),
        true_clusters=make_clustering(TRUE),
    )
    assert {name: two[name] for name in METRICS} == alone[0]


def test_a_reference_may_tell_groups_apart():
    """The same ids mean other records in the other shop."""
    tables = {
        "predicted_clusters": make_clustering("aabb", ids=[1, 2, 1, 2], shop=list("uuvv")),
        "true_clusters": make_clustering("xxyz", ids=[1, 2, 1, 2], shop=list("uuvv")),
    }
    assert [
        row["PairwisePrecision"] for row in evaluate("PairwisePrecision", **tables, by="shop")
    ] == [1.0, 0.0]


def test_columns_of_each_are_mapped_by_its_name():
    tables = {
        "predicted_clusters": make_clustering(PREDICTED).rename_columns(["id", "entity"]),
        "true_clusters": make_clustering(TRUE).rename_columns(["id", "person"]),
    }
    columns = {
        "record_id": "id",
        "predicted_clusters.cluster_id": "entity",
        "true_clusters.cluster_id": "person",
    }
    assert evaluate(METRICS, **tables, columns=columns) == [EXPECTED]
    kept = {"true_clusters.id": "true_clusters.id < 9", "id": "predicted_clusters.id < 9"}
    assert evaluate("num_unplaced", **tables, columns=columns, where=kept["id"]) == [
        {"num_unplaced": 4}
    ]
    assert evaluate(
        "num_unlabelled", **tables, columns=columns, where=kept["true_clusters.id"]
    ) == [{"num_unlabelled": 4}]


# Blocking


def test_pairs_have_to_be_given():
    assert (
        find_problem(metrics=["PairwiseF", "PairsQuality"], records=make_records())
        == "PairsQuality needs candidate_pairs. Give inputs={'candidate_pairs': ...}"
    )


def test_unknown_sources_are_refused():
    pairs = {"metrics": "PairsQuality", "candidate_pairs": make_pairs(BLOCKS), "link_type": "link"}
    assert "records (Table): no column 'source'" in find_problem(records=make_records(), **pairs)
    told = (
        "predicted_clusters and true_clusters do not say what source is. Give records= in one table"
    )
    assert find_problem(**pair_clusterings(), **pairs) == told
    pairs["candidate_pairs"] = make_pairs(["0-1"])
    assert "1 row: source is NULL" in find_problem(
        records=make_records("ab", "xy", source=["one", None]), **pairs
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "metric", ["PairwiseRecall", "PairwisePrecision", "Rand", "num_true_links", "BCubedF"]
)
def test_links_between_sources_are_of_all_metrics_of_a_call_or_none(metric):
    """Metrics that count links within a source, too, are refused beside those that do not; by
    default both are evaluated.
    """
    sources = {
        "records": make_records("aab", "xxy", source=["one", "two", "two"]),
        "candidate_pairs": make_pairs(["0-1"]),
    }
    said = f"{metric} does not read link_type. Ask for it in a call without link_type='link'"
    with pytest.raises(MetricError) as caught:
        evaluate(["PairsCompleteness", metric], link_type="link", **sources)
    assert str(caught.value) == said
    assert len(evaluate(["PairsCompleteness", metric], link_type="dedupe", **sources)) == 1
    assert evaluate("PairsCompleteness", link_type="link", **sources) == [
        {"PairsCompleteness": 1.0}
    ]


def test_blocking_of_two_tables():
    assert evaluate("PairsQuality", **pair_clusterings(candidate_pairs=make_pairs(BLOCKS))) == [
        {"PairsQuality": 0.6}
    ]


# Everywhere


def test_over_a_connection():
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE people (record_id INTEGER, predicted_cluster TEXT, true_cluster TEXT)"
    )
    connection.executemany(
        "INSERT INTO people VALUES (?, ?, ?)", list(zip(range(13), PREDICTED, TRUE, strict=True))
    )
    assert evaluate(METRICS, records="people", connection=connection) == [EXPECTED]
    there = evaluate("ClusterErrors", records="people", connection=connection)
    assert there == evaluate("ClusterErrors", records=make_records())
    connection.execute("INSERT INTO people VALUES (1, 'a', 'b')")
    assert "record_id is listed more than once" in find_problem(
        records="people", connection=connection
    )


def test_a_printed_statement_is_the_one_that_runs():
    connection = duckdb.connect()
    for name, table in {"linked": SYSTEMS, "gold": make_clustering(TRUE)}.items():
        connection.from_arrow(table).create(name)
    inputs = {"predicted_clusters": "linked", "true_clusters": "gold"}
    result = sqlrank.evaluate(
        METRICS, inputs=inputs, by="system", connection=connection, check="off"
    )
    text = sqlrank.sql(METRICS, inputs=inputs, by="system", connection=connection)
    assert result.schema.metadata[b"sqlrank.sql"].decode() == text
    assert connection.sql(text).fetchall() == [tuple(row.values()) for row in result.to_pylist()]
    assert "\n-- reads: linked (predicted_clusters), gold (true_clusters)\n" in text
    blind = sqlrank.sql(METRICS, inputs=inputs, by="predicted_clusters.system")
    assert connection.sql(blind).fetchall() == connection.sql(text).fetchall()


def test_the_command_takes_files(tmp_path):
    pq.write_table(make_records(), tmp_path / "records.parquet")
    for name, clusters in (("p", PREDICTED), ("r", TRUE)):
        lines = [f"{number},{cluster}" for number, cluster in enumerate(clusters)]
        (tmp_path / f"{name}.csv").write_text(
            "\n".join(["record_id,cluster_id", *lines, ""]), "utf-8"
        )
    shown = run_command(
        f"evaluate PairwiseF num_records --input records={tmp_path}/records.parquet --format csv"
    )
    joined = [
        "--input",
        f"predicted_clusters={tmp_path}/p.csv",
        "--input",
        f"true_clusters={tmp_path}/r.csv",
        "--format",
        "csv",
    ]
    assert (
        shown
        == run_command("evaluate", "PairwiseF", "num_records", *joined)
        == "PairwiseF,num_records\n0.4,13.0\n"
    )
    assert "no record has both clusters" in run_refused_command(
        "evaluate",
        "PairwiseF",
        *joined,
        "--where",
        "predicted_clusters.record_id < 3 AND true_clusters.record_id > 5",
    )


def test_a_model_of_dbt():
    model = sqlrank.dbt_model(
        ["PairwiseF", "num_records"],
        "er",
        dialect="snowflake",
        inputs={"predicted_clusters": "linked", "true_clusters": "gold.people"},
        by="predicted_clusters.system",
    )
    assert "{{ ref('linked') }}" in model.sql
    assert "{{ source('gold', 'people') }}" in model.sql


@pytest.mark.slow
def test_metrics_are_found_by_a_word():
    found = run_command("metrics b-cubed --format csv")
    assert {"BCubedF", "BCubedPrecision", "BCubedRecall"} <= {
        line.partition(",")[0] for line in found.splitlines()
    }
    for theirs, ours in {
        "ARI": "AdjustedRand",
        "v_measure_score": "VMeasure",
        "pairwise_f1": "PairwiseF",
        "b3_precision": "BCubedPrecision",
    }.items():
        assert str(sqlrank.parse(theirs)) == ours


# Ids that are unique within a source


RECORDS = read_columns(
    record_id="1 2 3 1 2", source=[*"aaabb"], predicted_cluster=[*"xyzxw"], true_cluster=[*"xyzxy"]
)
PAIRS = read_columns(left_id="1 2 1", left_source=[*"aaa"], right_id="1 3 2", right_source=[*"bab"])
SPLINK = {"record_id": "unique_id", "source": "source_dataset"} | {
    f"{side}_{name}": f"{other}_{side[0]}"
    for side in ("left", "right")
    for name, other in (("id", "unique_id"), ("source", "source_dataset"))
}
RECORD_KEY = {"record_id": "CONCAT(source, '-', record_id)"}

# Records whose ids are unique within a source, and pairs of them, of which one of two true links is a candidate.
SOURCES: dict[str, tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]] = {
    "numbers": (pd.DataFrame(RECORDS), pd.DataFrame(PAIRS), {}),
    "texts": (
        pd.DataFrame(RECORDS).astype({"record_id": str}),
        pd.DataFrame(PAIRS).astype({"left_id": str, "right_id": str}),
        {},
    ),
    "names of Splink": (
        pd.DataFrame(RECORDS).rename(columns=SPLINK),
        pd.DataFrame(PAIRS).rename(columns=SPLINK),
        {},
    ),
    "records alone are mapped": (pd.DataFrame(RECORDS), pd.DataFrame(PAIRS), RECORD_KEY),
    "records of texts alone are mapped": (
        pd.DataFrame(RECORDS),
        pd.DataFrame(PAIRS).astype({"left_id": str, "right_id": str}),
        RECORD_KEY,
    ),
    "pairs of one source": (
        pd.DataFrame(RECORDS),
        pd.DataFrame({"left_id": [2, 1], "source": [*"ab"], "right_id": [3, 2]}),
        {},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SOURCES)
def test_ids_that_are_unique_within_a_source(case: str, tmp_path: Path) -> None:
    records, pairs, columns = SOURCES[case]
    inputs = {"records": records, "candidate_pairs": pairs}
    expected = 0.0 if case == "pairs of one source" else 0.5
    value, messages = follow("PairsCompleteness", inputs=inputs, columns=columns)
    assert (value, "CONCAT(" in messages[-1]) == (expected, True)
    for role, frame in inputs.items():
        frame.to_csv(tmp_path / f"{role}.csv", index=False)
    mappings = [word for item in columns.items() for word in ("--column", "=".join(item))]
    files = [word for role in inputs for word in ("--input", f"{role}={tmp_path / role}.csv")]
    words = ("evaluate", "PairsCompleteness", *files, *mappings, "--format", "csv")
    # A column may be mapped once: whoever wrote the names of Splink writes the new ones in their place.
    for run in (follow_command, paste_command) if case != "names of Splink" else ():
        assert float(run(*words)[0].split()[1]) == expected
