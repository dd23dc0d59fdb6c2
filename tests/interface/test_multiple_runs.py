"""Several runs are systems of one evaluation; several files of anything else are parts of one
table.
"""

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.calls import make_qrels, make_run
from tests.interface.command_line import run_command
from tests.interface.command_line import run_refused_command as refused_command
from tests.interface.inputs import EXPECTED, evaluate, refused
from tests.tables import build_table, read_columns

# RR of the first system is 1 and 1/2, of the second 1/2 and 0 (its q2 is not answered).
GOOD = make_run(("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", "b", 2.0), ("q2", "a", 1.0))
BAD = make_run(("q1", "b", 2.0), ("q1", "a", 1.0))
QRELS = make_qrels(("q1", "a", 1), ("q2", "a", 1))


def select_rows(names: tuple[str, str]) -> list[dict[str, Any]]:
    values = {names[0]: {"RR": 0.75, "num_ret": 4.0}, names[1]: {"RR": 0.25, "num_ret": 2.0}}
    return [{"system": name, **values[name]} for name in sorted(names)]


def write_trec(path: Path, table: pa.Table, tag: str) -> Path:
    path.write_text(
        "".join(
            f"{row['query_id']} Q0 {row['doc_id']} 1 {row['score']} {tag}\n"
            for row in table.to_pylist()
        )
    )
    return path


def evaluate_run(run: Any, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.evaluate(["RR", "num_ret"], run=run, qrels=QRELS, **options).to_pylist()


def test_files_of_a_pattern_are_one_run(tmp_path):
    for name, table in (("old", GOOD), ("new", BAD)):
        write_trec(tmp_path / f"{name}.trec", table, name)
    refused("give each of the 2 files as a run of its own", run=tmp_path / "*.trec", qrels=QRELS)


@pytest.mark.slow
def test_named_runs_of_any_kind(tmp_path):
    pq.write_table(BAD, tmp_path / "bad.parquet")
    assert evaluate_run({"bm25": GOOD, "dense": tmp_path / "bad.parquet"}) == select_rows(
        ("bm25", "dense")
    )
    assert evaluate_run({"x": GOOD.to_pandas(), 'it\'s "y"': BAD}) == select_rows(
        ("x", 'it\'s "y"')
    )
    assert evaluate_run({"alone": GOOD}) == [{"system": "alone", "RR": 0.75, "num_ret": 4.0}]


@pytest.mark.slow
def test_columns_in_another_order_and_of_other_types():
    integers = build_table(score="2 1", doc_id="b a", extra="0 0", Query_ID="q1 q1")
    assert evaluate_run({"a": GOOD, "b": integers}) == select_rows(("a", "b"))
    numbers = make_run((1, "b", 2.0))
    rows = sqlrank.evaluate(
        "RR", run={"a": GOOD, "b": numbers}, qrels=make_qrels((1, "b", 1))
    ).to_pylist()
    assert rows == [{"system": "a", "RR": 0.0}, {"system": "b", "RR": 1.0}]


@pytest.mark.slow
def test_runs_are_named_by_their_tag_or_their_file(tmp_path):
    good, bad = (
        write_trec(tmp_path / "1.run", GOOD, "bm25"),
        write_trec(tmp_path / "2.run", BAD, "dense"),
    )
    assert (
        evaluate_run([good, bad])
        == evaluate_run((str(good), str(bad)))
        == select_rows(("bm25", "dense"))
    )
    write_trec(bad, BAD, "bm25")
    assert evaluate_run([good, bad]) == select_rows(("1", "2")), "the tag does not tell them apart"
    good, bad = write_trec(tmp_path / "x.run", GOOD, "t"), write_trec(tmp_path / "x.txt", BAD, "t")
    assert evaluate_run([good, bad]) == select_rows(("x.run", "x.txt"))
    (tmp_path / "b").mkdir()
    refused(
        "two systems are called 'x.run'",
        "Give each a name: run={'name': source}",
        run=[good, write_trec(tmp_path / "b" / "x.run", BAD, "t")],
        qrels=QRELS,
    )
    pq.write_table(GOOD, tmp_path / "good.parquet")
    assert evaluate_run([tmp_path / "good.parquet", write_trec(bad, BAD, "dense")]) == select_rows(
        ("good", "dense")
    )
    refused(
        "a Table of several has no name. Give run={'name': table, 'other': other_table}",
        run=[GOOD, BAD],
        qrels=QRELS,
    )


@pytest.mark.slow
def test_a_system_of_several_files(tmp_path):
    for number in (0, 1):
        pq.write_table(GOOD.slice(2 * number, 2), tmp_path / f"{number}.parquet")
    assert evaluate_run(
        {"a": [tmp_path / "0.parquet", tmp_path / "1.parquet"], "b": BAD}
    ) == select_rows(("a", "b"))
    assert evaluate_run({"a": tmp_path, "b": BAD}) == select_rows(("a", "b"))


@pytest.mark.slow
def test_slices_are_of_each_system():
    queries = build_table(query_id="q1 q2", kind="x y")
    got = sqlrank.evaluate(
        "RR", run={"a": GOOD, "b": BAD}, qrels=QRELS, queries=queries, by=[["kind"], []]
    )
    assert [tuple(row.values()) for row in got.to_pylist()] == [
        ("a", None, "system", 0.75), ("a", "x", "system,kind", 1.0), ("a", "y", "system,kind", 0.5),
        ("b", None, "system", 0.25), ("b", "x", "system,kind", 0.5), ("b", "y", "system,kind", 0.0),
    ]  # fmt: skip
    total = sqlrank.evaluate(
        "num_ret", run={"a": GOOD, "b": BAD}, qrels=QRELS, by=[["system"], []]
    ).to_pylist()
    assert total == [
        {"system": None, "slice": "all", "num_ret": 6.0},
        {"system": "a", "slice": "system", "num_ret": 4.0},
        {"system": "b", "slice": "system", "num_ret": 2.0},
    ]
    assert evaluate_run({"a": GOOD, "b": BAD}, where="run.system = 'b'") == [
        {"system": "b", "RR": 0.25, "num_ret": 2.0}
    ]


ACCURACY = read_columns(a="1 0 1 0 1 0", b="1 1 1 0 1 1")
"""Right answers of two models to the same six questions."""

TABLES = {
    "predictions": (read_columns(label="1 0 1 0 1 1", score="0.9 0.6 0.7 0.2 0.8 0.4"), "MAE"),
    "classified": ({"label": ["x", "y"] * 3, "predicted": ["x", "x"] * 3}, "MulticlassAccuracy"),
    "class_scores": (read_columns(prediction_id="1 1 2 2", class_id="0 1 0 1", score="0.9 0.1 0.6 0.4", label="0 0 1 1"), "MulticlassAUC"),
    "multiclass_predictions": ({"prediction_id": [1, 2], "scores": [[0.9, 0.1], [0.6, 0.4]], "label": [0, 1]}, "MulticlassLogLoss"),
    "class_labels": (read_columns(prediction_id="1 2", class_id="0 1", label="1.0 1.0", predicted="1.0 0.0"), "SubsetAccuracy"),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("role", TABLES)
def test_tables_of_predictions_may_be_of_systems(role, tmp_path):
    """They give what a column of systems in one table gives."""
    columns, metric = TABLES[role]
    first = pa.table(columns)
    second = first.slice(0, 2)
    pq.write_table(second, tmp_path / "second.parquet")
    named = {
        name: table.append_column("system", pa.array([name] * len(table)))
        for name, table in {"a": first, "b": second}.items()
    }
    expected = sqlrank.evaluate(
        metric, inputs={role: pa.concat_tables(named.values())}, by="system"
    )
    got = sqlrank.evaluate(metric, inputs={role: {"a": first, "b": tmp_path / "second.parquet"}})
    assert got.equals(expected)
    assert got.num_rows == 2
    if role != "predictions":  # which stay a table of columns
        return
    assert sqlrank.evaluate(metric, predictions=columns).to_pylist() == [
        {metric: pytest.approx(1 / 3)}
    ]
    assert sqlrank.evaluate(metric, predictions=[first, second]).num_rows == 1


@pytest.mark.slow
def test_models_in_files_of_their_own_are_compared(tmp_path, monkeypatch):
    """Two more of six answers are right: a mean of 1/3, and t = 1.5811 by SciPy's ttest_rel, p
    0.174688.
    """
    monkeypatch.chdir(tmp_path)
    for name, right in ACCURACY.items():
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(
                f'{{"doc_id": {number}, "right": {value}}}\n' for number, value in enumerate(right)
            )
        )
    (row,) = sqlrank.compare(
        "Mean(right)", predictions={"a": "a.jsonl", "b": "b.jsonl"}, unit="doc_id"
    ).to_pylist()
    assert (row["baseline"], row["system"], row["n_units"]) == ("a", "b", 6)
    assert row["difference"] == pytest.approx(1 / 3)
    assert (row["statistic"], row["p_value"]) == (
        pytest.approx(1.5811388),
        pytest.approx(0.1746878),
    )
    call = ["Mean(right)", "--predictions", "a=a.jsonl", "--predictions", "b=b.jsonl"]
    assert (
        "--predictions a=a.jsonl --predictions b=b.jsonl"
        in run_command("sql", *call).splitlines()[2]
    )
    assert "0.174687" in run_command("compare", *call, "--unit", "doc_id", "--format", "csv")
    assert (
        refused_command("compare", *call[:2], "=b.jsonl")
        == "sqlrank: --predictions =b.jsonl: write --predictions name=source\n"
    )


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_trec(tmp_path / "1.run", GOOD, "bm25"), write_trec(tmp_path / "2.run", BAD, "dense")
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    expected = "system,RR\nbm25,0.75\ndense,0.25\n"
    call = ["evaluate", "RR", "--qrels", "qrels", "--format", "csv"]
    assert run_command(*call, "--run", "bm25=1.run", "--run", "dense=2.run") == expected
    assert run_command(*call, "--run", "1.run", "--run", "2.run") == expected
    assert run_command(*call, "--run", "bm25=1.run", "--run", "2.run") == expected
    assert run_command(*call, "--run", "only=2.run") == "system,RR\nonly,0.25\n"
    assert run_command(*call, "--run", "1.run") == "RR\n0.75\n"
    assert run_command(*call, "--run", "*.run", "--by", "tag") == expected.replace("system", "tag")
    assert run_command(*call, "--run", "{1,2}.run", "--by", "tag") == expected.replace(
        "system", "tag"
    )
    (tmp_path / "1.run").rename(tmp_path / "a=1.run")
    assert run_command(*call, "--run", "a=1.run") == "RR\n0.75\n", "a file of that name"
    assert "write --run name=source" in refused_command(*call, "--run", "=2.run")


@pytest.mark.parametrize(
    "option", ["--qrels", "--queries", "--db", "--where", "--compat", "--check", "--timeout", "-o"]
)
def test_options_that_cannot_be_repeated(option):
    long = {"-o": "--output"}.get(option, option)
    message = " ".join(
        refused_command("evaluate", "RR", "--run", "r", option, "1", option, "2").split()
    )
    assert f"{long} is given twice. It takes one value" in message
    assert "--dialect is given twice" in refused_command(
        "sql", "RR", "--dialect", "spark", "--dialect", "spark"
    )
    assert "-k is given twice" in refused_command("learn", "t", "-k", "1", "-k", "2")


def test_statements_over_tables():
    text = sqlrank.sql("RR", run={"bm25": "runs_a", "dense": "runs_b"}, qrels="judged")
    assert text == run_command(
        "sql RR --run bm25=runs_a --run dense=runs_b --qrels judged"
    ).removesuffix(";\n")
    with duckdb.connect() as connection:
        for name, table in (("runs_a", GOOD), ("runs_b", BAD), ("judged", QRELS)):
            connection.from_arrow(table).create(name)
        assert connection.execute(text).fetchall() == [("bm25", 0.75), ("dense", 0.25)]
        call = {
            "run": ["runs_a", "memory.main.runs_b"],
            "qrels": "judged",
            "connection": connection,
        }
        result = sqlrank.evaluate(["RR", "num_ret"], check="off", **call)
        assert result.to_pylist() == select_rows(("runs_a", "runs_b"))
        assert (
            sqlrank.sql(["RR", "num_ret"], **call)
            == result.schema.metadata[b"sqlrank.sql"].decode()
        )
    assert "'bm25' AS \"SYSTEM\"" in sqlrank.sql(
        "RR", run={"bm25": "runs_a"}, qrels="q", dialect="snowflake"
    )


def test_tables_of_another_database():
    with sqlite3.connect(":memory:") as database:
        for name, table in (("runs_a", GOOD), ("runs_b", BAD), ("judged", QRELS)):
            database.execute(f"CREATE TABLE {name} ({', '.join(table.column_names)})")
            database.executemany(
                f"INSERT INTO {name} VALUES (?, ?, ?)",
                [tuple(row.values()) for row in table.to_pylist()],
            )
        got = sqlrank.evaluate(
            ["RR", "num_ret"], run=["runs_a", "runs_b"], qrels=["judged"], connection=database
        )
        assert got.to_pylist() == select_rows(("runs_a", "runs_b"))


@pytest.mark.slow
def test_a_list_of_anything_else_is_one_table(files, run, qrels):
    assert evaluate(run, [qrels.slice(0, 1), qrels.slice(1)]) == EXPECTED
    assert evaluate(files / "run.parquet", [files / "qrels.trec"]) == EXPECTED
    parts = build_table(label="1 0", score="0.9 0.1")
    got = sqlrank.evaluate(
        ["AUC", "num_predictions"], predictions=[parts, parts], columns={"score": "1 - score"}
    ).to_pylist()
    assert got == [{"AUC": 0.0, "num_predictions": 4.0}]


def test_folders_and_brace_patterns(tmp_path, run, qrels):
    (tmp_path / "parts" / "more").mkdir(parents=True)
    pq.write_table(run.slice(0, 1), tmp_path / "parts" / "0.parquet")
    pq.write_table(run.slice(1), tmp_path / "parts" / "more" / "1.parquet")
    (tmp_path / "parts" / "_SUCCESS").write_text("")
    (tmp_path / "parts" / ".0.parquet.crc").write_text("")
    assert evaluate(tmp_path / "parts", qrels) == EXPECTED
    assert evaluate(str(tmp_path / "{parts,parts/more}/*.parquet"), qrels) == EXPECTED
    refused("no file matches", run=str(tmp_path / "{parts,none}/*.parquet"), qrels=qrels)
    (tmp_path / "parts" / "x.csv").write_text("")
    refused(
        "holds files of several kinds (.csv, .parquet). Give a pattern of one",
        run=tmp_path / "parts",
        qrels=qrels,
    )
    (tmp_path / "empty").mkdir()
    refused("is a folder without files", run=tmp_path / "empty", qrels=qrels)


def make_uplift(*labels: int) -> pa.Table:
    """Return units of falling scores, of which every other is treated."""
    count = len(labels)
    return pa.table(
        {
            "label": labels,
            "score": [float(count - i) for i in range(count)],
            "treatment": [1 - i % 2 for i in range(count)],
        }
    )


def test_any_input_may_be_of_several_systems(tmp_path):
    """Of the top half, the treated of ``good`` gained one each, those of ``bad`` lost as much."""
    systems = {"good": make_uplift(1, 0, 1, 0, 0, 0), "bad": make_uplift(0, 1, 0, 1, 0, 0)}
    expected = [{"system": "bad", "Uplift@0.5": -1.0}, {"system": "good", "Uplift@0.5": 1.0}]
    assert sqlrank.evaluate("Uplift@0.5", inputs={"uplift": systems}).to_pylist() == expected
    for name, table in systems.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    files = [f"--input=uplift={name}={tmp_path / name}.parquet" for name in systems]
    printed = run_command("evaluate", "Uplift@0.5", *files, "--format", "csv")
    assert printed == "system,Uplift@0.5\nbad,-1.0\ngood,1.0\n"


def test_judgments_and_catalogs_of_each_system():
    """Of the second system one of four items of the catalog is in the first rank."""
    items = {"old": build_table(doc_id="a b"), "new": build_table(doc_id="a b c d")}
    table = sqlrank.evaluate(
        ["RR", "CatalogCoverage@1"],
        run={"old": GOOD, "new": BAD},
        qrels={"old": QRELS, "new": make_qrels(("q1", "b", 1))},
        inputs={"items": items},
    )
    assert table.to_pylist() == [
        {"system": "new", "RR": 1.0, "CatalogCoverage@1": 0.25},
        {"system": "old", "RR": 0.75, "CatalogCoverage@1": 1.0},
    ]


def test_inputs_of_other_systems_are_refused():
    refused(
        "qrels: its systems are x, z, and those of run are x, y. Give both the same names",
        run={"x": GOOD, "y": BAD},
        qrels={"x": QRELS, "z": QRELS},
    )
    refused(
        "qrels: sources by name are those of systems, and there is one run",
        "Give one of each system, run={'old': ..., 'new': ...}",
        run=GOOD,
        qrels={"x": QRELS, "y": QRELS},
    )
    with_column = pa.concat_tables(
        table.append_column("system", pa.array([name] * len(table)))
        for name, table in (("x", GOOD), ("y", BAD))
    )
    judgments = {"x": QRELS, "y": QRELS}
    table = sqlrank.evaluate("RR", run=with_column, qrels=judgments, by="system")
    assert table["RR"].to_pylist() == [0.75, 0.25]
