"""SQL files of a user's own work without Python; a file that breaks the contract is refused with
file, line and rule.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlglot

import sqlrank
from sqlrank import ContractError, MetricError, SqlrankError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.reference_checks import check_contract
from sqlrank.registry.sql_file import SqlFile, read_grain
from sqlrank.registry.sql_folder import sql_root

GOOD = """-- mine: relevant documents at the first place.
-- Undefined: a query without relevant documents.
SELECT
  list_id,
  SUM(CASE WHEN rank <= 1 THEN 1 ELSE 0 END) AS mine
FROM relevant_documents
GROUP BY list_id
"""
VALUE = "SUM(CASE WHEN rank <= 1 THEN 1 ELSE 0 END)"


def add_parameter(name: str) -> str:
    declared = f"-- ${name}: number, default 1: what counts.\n-- Undefined:"
    return GOOD.replace("-- Undefined:", declared).replace("THEN 1 ELSE", f"THEN ${name} ELSE")


class Folder:
    """A user's SQL folder, and the call that reads it."""

    def __init__(self, path: Path, run: pa.Table, qrels: pa.Table) -> None:
        self.path, self.run, self.qrels = path, run, qrels

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text, "utf-8")

    def evaluate(self, files: dict[str, str], metric: str = "mine", **options: Any) -> Any:
        self.write(files)
        call = {"run": self.run, "qrels": self.qrels, "sql_dir": self.path} | options
        return sqlrank.evaluate(metric, **call)[metric].to_pylist()


@pytest.fixture
def folder(tmp_path: Path, run: pa.Table, qrels: pa.Table) -> Folder:
    return Folder(tmp_path / "my sql", run, qrels)


def test_the_files_of_the_package_keep_the_contract():
    """They are not checked when they are read, so that a first call is quick."""
    shelf = load_registry()
    files = shelf.list_files()
    assert len(files) > 200
    for file in files:
        check_contract(SqlFile(file.kind, file.name, file.path), shelf)


def test_every_relation_and_step_declares_its_grain():
    """And names columns that its rows have, or what it reads."""
    no_relations = {"metrics", "curves", "functions", "install", "settings"}
    folders = {path.name for path in sql_root().iterdir() if path.is_dir()} - no_relations
    for path in (
        path
        for folder in sorted(folders)
        for path in sorted(sql_root().joinpath(folder).rglob("*.sql"))
    ):
        text = path.read_text("utf-8")
        (grain,) = [
            read_grain(line.removeprefix("-- Grain: "))
            for line in text.splitlines()
            if line.startswith("-- Grain: ")
        ]
        tree = sqlglot.parse_one(text, read="duckdb")
        assert grain is not None, path
        assert any(column.is_star for column in tree.selects) or {*grain.columns} <= {
            *tree.named_selects
        }, path
        assert grain.source in {
            "",
            *(table.name for table in tree.find_all(sqlglot.exp.Table)),
        }, path


# What works without Python


@pytest.mark.parametrize(
    ("alias", "metric", "column"),
    [
        ("my_rate", "mine", "my_rate"),
        ("my_rate", "mine(place=2)", "my_rate_place_2"),
        ("MyRate", "mine", "myrate"),
        ("weight", "mine", "weight_2"),
    ],
)
def test_the_alias_is_the_column_in_sql(folder, alias, metric, column):
    """In results of Python it is the name; a name of an internal column gets a number."""
    text = add_parameter("place") if "(" in metric else GOOD
    folder.write({"metrics/mine.sql": text.replace("AS mine", f"AS {alias}")})
    printed = sqlrank.sql(metric, run="run", qrels="qrels", sql_dir=folder.path)
    assert sqlglot.parse_one(printed, read="duckdb").named_selects == [column]
    assert sqlrank.evaluate(
        metric, run=folder.run, qrels=folder.qrels, sql_dir=folder.path
    ).column_names == [metric]


def test_a_metric(folder):
    assert folder.evaluate({"metrics/web/mine.sql": GOOD}) == [0.5]
    rows = {row["name"]: row for row in sqlrank.metrics(folder.path).to_pylist()}
    assert rows["mine"]["family"] == "web"
    assert rows["mine"]["relation"] == "relevant_documents"
    assert rows["mine"]["description"] == "relevant documents at the first place."
    assert "mine" not in sqlrank.metrics()["name"].to_pylist()
    assert folder.evaluate(
        {}, run=folder.run.append_column("system", [["x", "x", "y"]]), by="system"
    ) == [0.0, 0.5]
    assert "mine" in sqlrank.sql("mine", run="r", qrels="q", sql_dir=folder.path)


def test_a_metric_called_as_an_annotation_is(folder):
    assert folder.evaluate(
        {"metrics/range.sql": GOOD.replace("-- mine:", "-- Range:")}, "Range"
    ) == [0.5]


def test_a_metric_with_a_cutoff(folder):
    text = GOOD.replace("-- Und", "-- $k: integer from 1: cut-off.\n-- Und").replace(
        "<= 1", "<= $k"
    )
    assert folder.evaluate({"metrics/mine.sql": text}, "mine@1") == [0.5]
    assert folder.evaluate({}, "MINE@2") == [1.0]
    assert folder.evaluate({}, "mine@1..2") == [0.5, 1.0]
    with pytest.raises(MetricError, match="mine needs a cut-off"):
        folder.evaluate({}, "mine")


@pytest.mark.parametrize(
    "change",
    [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text],
    ids=["crlf", "byte order mark"],
)
def test_files_of_windows_editors(change, folder):
    assert folder.evaluate({"metrics/mine.sql": change(GOOD)}) == [0.5]


def test_a_function(folder):
    cube = "-- the cube.\nCREATE MACRO gain(relevance) AS relevance * relevance * relevance\n"
    power = (
        "-- a power.\n-- $gamma: number from 0, default 2: the exponent.\nCREATE MACRO"
        " gain(relevance) AS EXP($gamma * LN(relevance))\n"
    )
    files = {"functions/gain/cube.sql": cube, "functions/gain/power.sql": power}
    assert folder.evaluate(files, "CG(gain=cube)") == [4.5]
    assert folder.evaluate({}, "CG(gain=power)") == pytest.approx([2.5])
    assert folder.evaluate({}, "CG(gain=power, gamma=3)") == pytest.approx([4.5])
    with pytest.raises(MetricError, match=r"gamma is -1. It must be a number from 0"):
        folder.evaluate({}, "CG(gain=power, gamma=-1)")


def test_a_function_slot(folder):
    metric = GOOD.replace("-- Und", "-- boost(): default twice: how much.\n-- Und").replace(
        "THEN 1", "THEN boost(relevance)"
    )
    twice = "-- twice.\nCREATE MACRO boost(relevance) AS 2 * relevance\n"
    thrice = "-- thrice.\nCREATE MACRO boost(relevance) AS 3 * relevance\n"
    assert folder.evaluate(
        {
            "metrics/mine.sql": metric,
            "functions/boost/twice.sql": twice,
            "functions/boost/thrice.sql": thrice,
        }
    ) == [2.0]
    assert folder.evaluate({}, "mine(boost=thrice)") == [3.0]


RELATION = (
    "-- top: one row per document at the first rank.\nSELECT\n  list_id,\n  relevance\nFROM"
    " judged_documents\nWHERE rank = 1\n"
)
READS_TOP = GOOD.replace("FROM relevant_documents", "FROM top").replace(
    "rank <= 1", "relevance > 0"
)


def test_a_relation(folder):
    assert folder.evaluate({"metrics/mine.sql": READS_TOP, "relations/top.sql": RELATION}) == [0.5]
    assert folder.evaluate(
        {}, run=folder.run.append_column("system", [["x", "x", "y"]]), by="system"
    ) == [0.0, 0.5]


def test_trailing_comments_of_columns(folder):
    """They belong to the column, and stand behind it in statements."""
    relation = RELATION.replace(
        "  list_id,\n  relevance\n",
        "  list_id, -- the list\n  MAX(relevance) OVER (PARTITION BY list_id) AS relevance -- its"
        " grade\n",
    )
    assert folder.evaluate({"metrics/mine.sql": READS_TOP, "relations/top.sql": relation}) == [0.5]
    file = SqlFile("relations", "top", folder.path / "relations" / "top.sql")
    assert file.column_comments == {"list_id": "the list", "relevance": "its grade"}
    statement = sqlrank.sql("mine", run="r", qrels="q", sql_dir=folder.path, dialect="bigquery")
    assert "AS relevance  -- its grade\n" in statement


def test_a_compatibility_mode(folder):
    folder.write({"compat/mine.toml": "[metrics.P]\ndenominator = 'hits'\n"})
    assert folder.evaluate({}, "P@5", compat="mine") == [1.0]


def test_an_edited_file_is_read_anew(folder):
    assert folder.evaluate({"metrics/mine.sql": GOOD}) == [0.5]
    assert folder.evaluate({"metrics/mine.sql": GOOD.replace("THEN 1", "THEN 7")}) == [3.5]


# What is refused


def find_line(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), start=1) if part in line)


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        (GOOD.replace("GROUP BY", "WHERE rank > 1\nGROUP BY"), "WHERE", "a metric has no WHERE. That belongs in a relation"),
        (GOOD + "HAVING COUNT(*) > 1\n", "HAVING", "a metric has no HAVING"),
        (GOOD + "ORDER BY list_id\n", "ORDER", "a metric has no ORDER BY"),
        (GOOD + "LIMIT 1\n", "LIMIT", "a metric has no LIMIT"),
        (GOOD.replace("SELECT", "SELECT DISTINCT"), "DISTINCT", "a metric has no DISTINCT"),
        (GOOD.replace("SELECT\n", "WITH a AS (SELECT 1 AS x)\nSELECT\n"), "WITH", "a metric has no CTE"),
        (GOOD.replace("FROM relevant_documents", "FROM relevant_documents\nJOIN ranked_lists ON ranked_lists.list_id = relevant_documents.list_id"), "JOIN", "a metric has no JOIN"),
        (GOOD.replace("FROM relevant_documents", "FROM relevant_documents, ranked_lists"), "FROM", "a metric has no JOIN"),
        (GOOD.replace(VALUE, "SUM(rank) OVER (PARTITION BY list_id)"), "OVER", "a metric has no window"),
        (GOOD.replace(VALUE, "SUM(SUM(rank)) OVER (PARTITION BY list_id)"), "OVER", "a metric has no window"),
        (GOOD.replace("FROM relevant_documents", "FROM (SELECT list_id, rank FROM relevant_documents) AS r"), "FROM (", "subquery"),
        (GOOD.replace(VALUE, f"(SELECT MAX(rank) FROM relevant_documents) + {VALUE}"), "(SELECT", "subquery"),
        (GOOD.replace("  list_id,\n", "").replace(f"{VALUE} AS mine", "*"), "*", "a metric lists its columns"),
        (GOOD.replace(VALUE, "SUM(rank) FILTER (WHERE rank > 1)"), "FILTER", "write SUM(CASE WHEN condition THEN x ELSE 0 END)"),
        (GOOD + "QUALIFY 1 = 1\n", "QUALIFY", "QUALIFY"),
        (GOOD.replace(VALUE, "SUM(rank) OVER w") + "WINDOW w AS (PARTITION BY list_id)\n", "WINDOW", "named windows are not allowed"),
        (GOOD.replace("FROM relevant_documents", "FORM relevant_documents"), "FORM", "not SQL"),
        (GOOD.replace(VALUE, "SUM("), "SUM(", "not SQL"),
        (GOOD + "UNION ALL\n" + GOOD.partition("documents.\n")[2], "SELECT", "a metric is one SELECT"),
        (GOOD + ";\n" + GOOD.partition("documents.\n")[2], "SELECT", "a metric is one SELECT"),
        ("-- mine: gone.\nDROP TABLE x\n", "DROP", "a metric is one SELECT"),
        (GOOD.replace("<= 1", "<= $k"), "$k", "$k is used, but not documented"),
        (GOOD.replace("<= 1", "<= $zzz"), "$zzz", "$zzz is used, but not documented"),
        (GOOD.replace("<= 1", "<= ?"), "?", "not documented"),
        (GOOD.replace("<= 1", "<= {{ k }}"), "{{", "not allowed"),
        (GOOD.replace("-- Und", "-- $k: integer from 1: cut-off.\n-- Und"), "$k", "$k is documented, but not used"),
        (GOOD.replace("-- Und", "-- $k integer, the cut-off\n-- Und"), "$k", "cannot read the parameter. Write '$k: integer from 1"),
        (GOOD.replace("FROM relevant_documents", "FROM relevnat_documents"), "relevnat_documents", "no relation 'relevnat_documents'. Did you mean 'relevant_documents'?"),
        (GOOD.replace("FROM relevant_documents", "FROM run"), "FROM run", "relation"),
        (GOOD.replace("FROM relevant_documents", "FROM main.relevant_documents"), "main.relevant_documents", "relation"),
        (GOOD.replace("FROM relevant_documents", "FROM relevant_documents AS r"), "FROM", "a metric reads exactly one relation, without an alias"),
        (GOOD.replace(VALUE, "SUM(foo(rank))"), "foo", "foo"),
        (GOOD.replace(VALUE, "MAX(getenv('HOME'))"), "getenv", "getenv"),
        (GOOD.replace(VALUE, "SUM(gain(relevance))"), "gain", "gain"),
        (GOOD.replace("rank <=", "rnk <="), "rnk", "rnk"),
        (GOOD.replace("list_id", "query_id"), "SELECT", "a metric selects list_id"),
        (GOOD.replace("GROUP BY list_id", "GROUP BY rank"), "GROUP", "a metric is grouped by exactly its key, list_id or group_id"),
        (GOOD.replace("GROUP BY list_id", "GROUP BY list_id, rank"), "GROUP", "a metric is grouped by exactly its key"),
        (GOOD.replace("GROUP BY list_id", "GROUP BY ALL"), "GROUP", "a metric is grouped by exactly its key"),
        (GOOD.replace("GROUP BY list_id", "GROUP BY 1"), "GROUP", "a metric is grouped by exactly its key"),
        (GOOD.replace("GROUP BY list_id\n", ""), "SELECT", "a metric is grouped by exactly its key"),
        (GOOD.replace(" AS mine", ""), "SELECT", "one aggregate expression with an alias"),
        (GOOD.replace(VALUE, "rank"), "SELECT", "the last column of a metric is an aggregate"),
        (GOOD.replace(VALUE, "MAX(rank) + rank"), "rank", "aggregate"),
        (GOOD.replace(VALUE, "MAX(rank) + log1p(rank)"), "log1p", "log1p is outside an aggregate"),
        (GOOD.replace("  SUM", "  MAX(rank) AS a,\n  SUM"), "SELECT", "a metric selects list_id or group_id and then one aggregate expression"),
        (GOOD.replace(VALUE, "MEDIAN(rank)"), "MEDIAN", "Median is not allowed: write QUANTILE_CONT(x, 0.5)"),
        (GOOD.replace(VALUE, "SUM(LOG2(rank))"), "LOG2", "Write LN"),
        (GOOD.replace(VALUE, "ARG_MAX(rank, cumulative_hits)"), "ARG_MAX", "not allowed"),
        (GOOD.replace(VALUE, "LIST(rank)"), "LIST", "not allowed"),
        (GOOD.replace("rank <= 1", "rank ** 2 <= 1"), "**", "not allowed"),
        (GOOD.replace("rank <= 1", "rank % 2 = 1"), "%", "not allowed"),
        (GOOD[GOOD.index("SELECT") :], "SELECT", "a file begins with a comment that says what it is"),
        ("", None, "a file begins with a comment"),
        ("-- mine: nothing more.\n", "mine", "a metric is one SELECT"),
        (GOOD.replace("-- mine: ", "-- "), "relevant documents", "name"),
        (GOOD.replace("-- mine: ", "-- my metric@: "), "my metric", "name"),
        (GOOD.replace("-- mine: ", "-- nDCG: "), "nDCG", "is taken by"),
        (GOOD.replace("-- mine: ", "-- NDCG: "), "NDCG", "is taken by"),
        (GOOD.replace("-- Undefined", "-- Undefned"), "Undefned", "no annotation 'Undefned'. Did you mean 'Undefined'? Begin a line of prose"),
        (GOOD.replace("-- Undefined", "-- Rang: 0 to 1.\n-- Undefined"), "-- Rang", "no annotation 'Rang'. Did you mean 'Range'?"),
        (GOOD.replace("-- Undefined", "-- Materialise: every list.\n-- Undefined"), "-- Materialise", "no annotation 'Materialise'. Did you mean 'Materialize'?"),
        ("-- mine: x.\nSELECT 1 AS x\n", "SELECT", "a metric reads exactly one relation, without an alias"),
        ("-- mine: x.\n-- $k: integer from 1, default 10: x.\nSELECT 1 AS x\n", "SELECT", "a metric reads exactly one relation"),
        ("-- mine: x.\n-- $k: integer from 1, default 10: x.\nVALUES (1)\n", "VALUES", "a metric is one SELECT"),
        (GOOD.replace("-- Undefined", "-- Never zero: rank.\n-- Undefined"), "-- Never", "no annotation 'Never zero'. Write -- Nonzero:"),
        (GOOD.replace("-- Undefined", "-- Estimand: 0 to 1.\n-- Undefined"), "-- Estimand", "Write -- Range: 0 to 1, but not estimates under"),
        (GOOD.replace("-- Undefined", "-- Probability: gain.\n-- Undefined"), "-- Probability", "Write -- Requires: stop_probability() at most 1"),
        (GOOD.replace("-- Undefined", "-- With k: AP.\n-- Undefined"), "-- With k", "under [hints] of names.toml"),
        (GOOD.replace("-- Undefined", "-- Without depth: why.\n-- Undefined"), "-- Without", "Write [unjudged.values.drop.with.depth] in policies.toml"),
        (GOOD.replace("-- Undefined", "-- Previous run: run.\n-- Undefined"), "-- Previous", "Write -- Reads: previous run as baseline"),
        (GOOD.replace("-- Undefined", "-- Requires: stop() at most 1.\n-- Undefined"), "-- Requires", "no function 'stop'"),
        (GOOD.replace("-- Undefined", "-- Reads: previous run as runs.\n-- Undefined"), "-- Reads", "cannot read 'previous run as runs'. Write 'unfiltered'"),
        (GOOD.replace("-- Undefined", "-- Reference value: half.\n-- Undefined"), "-- Reference value", "cannot read 'half'. Write '0.5 (random"),
        (GOOD.replace("-- Undefined", "-- Interval: never.\n-- Undefined"), "-- Interval", "cannot read 'never'. Write 'none (reason)'"),
        (GOOD.replace("-- Undefined", "-- Depth: first.\n-- Undefined"), "-- Depth", "Write 'k' or 'all', or a number of documents"),
        (GOOD.replace("-- Undefined", "-- Depth: k.\n-- Undefined"), "-- Depth", "there is no integer cut-off $k"),
        (add_parameter("gain"), "$gain", "a parameter cannot be called 'gain', as a function is"),
        (add_parameter("ties"), "$ties", "a parameter cannot be called 'ties', as a policy is"),
    ],
)  # fmt: skip
def test_a_metric_that_breaks_the_contract(text, place, rule, folder):
    folder.write({"metrics/mine.sql": text})
    with pytest.raises(ContractError) as caught:
        folder.evaluate({})
    assert rule in str(caught.value)
    line = 1 if place is None else find_line(text, place)
    assert f"{folder.path / 'metrics' / 'mine.sql'}:{line}: " in str(caught.value)


def change_relation(old: str, new: str) -> str:
    assert old in RELATION
    return RELATION.replace(old, new)


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        (change_relation("  list_id,\n  relevance", "  *"), "*", "a relation lists its columns"),
        (change_relation("SELECT\n", "WITH a AS (SELECT 1 AS x)\nSELECT\n"), "WITH", "a relation has no CTE"),
        ("-- top: one row per list: nothing.\nSELECT\n  1 AS list_id,\n  2 AS relevance\n", "SELECT", "a relation with rows for lists or groups has a FROM"),
        (change_relation("  relevance\n", "  SUM(relevance) OVER w AS relevance\n") + "WINDOW w AS (PARTITION BY list_id)\n", "WINDOW", "named windows"),
        (change_relation("  relevance\n", "  COUNT(*) FILTER (WHERE rank = 1) AS relevance\n"), "FILTER", "write SUM(CASE"),
        (change_relation("judged_documents", "jugded_documents"), "jugded_documents", "no relation 'jugded_documents'. Did you mean 'judged_documents'?"),
        (change_relation("judged_documents", "top"), "FROM", "top"),
        (change_relation("judged_documents", "'x.parquet'"), "FROM", "relation"),
        (change_relation("judged_documents", "read_csv('/etc/passwd')"), "read_csv", "not allowed"),
        (change_relation("FROM judged_documents", "FROM judged_documents JOIN ranked_lists USING (list_id)"), "USING", "USING"),
        (change_relation("rank = 1", "rank = $foo"), "$foo", "$foo is used, but not documented"),
        (change_relation("-- top", "-- $k: integer from 1: x.\n-- top"), "$k", "$k is documented, but not used"),
        (change_relation("FROM judged_documents", "FROM judged_documents NATURAL JOIN ranked_lists"), "NATURAL", "NATURAL JOIN is not allowed"),
        (change_relation("FROM judged_documents", "FROM judged_documents SEMI JOIN ranked_lists ON rank = 1"), "SEMI", "SEMI JOIN is not allowed"),
        (change_relation("judged_documents", "judged_documents AS renamed(list_id, relevance)"), "renamed", "renamed(list_id, relevance) is not allowed"),
        (RELATION + "GROUP BY 1, 2\n", "GROUP BY", "GROUP BY ALL and positions are not allowed"),
        (RELATION + "GROUP BY ALL\n", "GROUP BY", "GROUP BY ALL and positions are not allowed"),
        (RELATION + "ORDER BY 1\n", "ORDER BY", "the rows of a query are sorted by columns"),
        (change_relation("  relevance\n", "  Relevance\n"), "Relevance", "no column 'Relevance'. Did you mean 'relevance'?"),
        (change_relation("  relevance\n", "  relevance + 1 AS grade,\n  grade * 2 AS relevance\n"), "grade * 2", "grade is computed in this SELECT"),
        (change_relation("rank = 1", "grade = 1"), "grade", "no column 'grade'"),
        (
            change_relation("FROM judged_documents", "FROM judged_documents, (SELECT judged_documents.rank + 1 AS next) AS successors"),
            "FROM",
            "a subquery of FROM cannot read judged_documents, which is next to it in FROM",
        ),
        (RELATION + "UNION\n" + RELATION.partition("rank.\n")[2], "UNION", "UNION ALL"),
        (RELATION + "ORDER BY rank NULLS LAST\n", "NULLS LAST", "NULLS"),
        (RELATION + ";\nDROP TABLE x\n", "SELECT", "a relation is one SELECT"),
        (RELATION.partition("\n")[2], "SELECT", "a file begins with a comment"),
        (change_relation("WHERE rank = 1", "WHERE rank = 1 QUALIFY 1 = 1"), "QUALIFY", "write a subquery with WHERE"),
        (change_relation("rank.\n", "rank.\n-- Grain: list_id, doc_id\n"), "-- Grain", "no column 'doc_id'. There are: list_id, relevance"),
        (change_relation("rank.\n", "rank.\n-- Grain: rows of judgments\n"), "-- Grain", "'judgments' is not read"),
        (change_relation("rank.\n", "rank.\n-- Steps: 9 from nothing\n"), "-- Steps", "write a number and a relation of the file, as in '9 from first_rows'"),
        (change_relation("rank.\n", "rank.\n-- Scope: groups (all)\n"), "-- Scope", "no scope 'groups'. Did you mean 'group'?"),
        (change_relation("rank.\n", "rank.\n-- Depth: ten\n"), "-- Depth", "cannot read 'ten'. Write 'k' or 'all'"),
        (change_relation("rank.\n", "rank.\n-- Depth: 10\n"), "-- Depth", "cannot read '10'. Write 'k' or 'all'"),
        (change_relation("rank.\n", "rank.\n-- Grain: by list\n"), "-- Grain", "cannot read 'by list'. Write 'list_id, doc_id'"),
        (
            change_relation("FROM judged_documents", "FROM judged_documents LEFT JOIN ranked_documents ON ranked_documents.list_id = judged_documents.list_id"),
            "FROM",
            "a LEFT JOIN finds one row, and those of ranked_documents are identified by doc_id, list_id. Compare these in ON",
        ),
        (
            change_relation("FROM judged_documents", "FROM ranked_documents LEFT JOIN judged_documents ON judged_documents.list_id = ranked_documents.list_id"),
            "FROM",
            "nothing is known to identify a row of judged_documents, of which a LEFT JOIN finds one. Declare it (-- Grain: ... of a relation",
        ),
        (
            RELATION.replace("  list_id,\n  relevance\nFROM", "  judged_documents.list_id,\n  list_length\nFROM").replace(
                "WHERE", "LEFT JOIN list_lengths ON list_lengths.list_id = judged_documents.list_id\nWHERE"
            ),
            "list_length",
            "list_length may be of list_lengths, which a LEFT JOIN looks up. Write list_lengths.list_length",
        ),
    ],
)  # fmt: skip
def test_a_relation_that_breaks_the_contract(text, place, rule, folder):
    folder.write({"metrics/mine.sql": READS_TOP, "relations/top.sql": text})
    with pytest.raises(ContractError) as caught:
        folder.evaluate({})
    assert rule in str(caught.value)
    assert f"{folder.path / 'relations' / 'top.sql'}:{find_line(text, place)}: " in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        (
            "-- x.\nCREATE MACRO cube(relevance) AS relevance\n",
            2,
            "the macro is named after its folder, 'gain'",
        ),
        ("-- x.\nSELECT 1\n", 2, "a function file is one CREATE MACRO"),
        ("-- x.\nCREATE TABLE gain (a INTEGER)\n", 2, "a function file is one CREATE MACRO"),
        (
            "-- x.\nCREATE MACRO gain(relevance) AS TABLE SELECT 1\n",
            2,
            "a function file is one CREATE MACRO",
        ),
        ("-- x.\nCREATE MACRO gain(a, b) AS a\n", 2, "argument"),
        ("-- x.\nCREATE MACRO gain(relevance) AS rank\n", 2, "rank"),
        ("-- x.\nCREATE MACRO gain(relevance) AS gain(relevance)\n", 2, "gain"),
        ("-- x.\nCREATE MACRO gain(relevance) AS foo(relevance)\n", 2, "foo"),
        (
            "-- x.\nCREATE MACRO gain(relevance) AS relevance * $foo\n",
            2,
            "$foo is used, but not documented",
        ),
        (
            (
                "-- x.\nCREATE MACRO gain(relevance) AS (SELECT MAX(relevance) FROM"
                " judged_documents)\n"
            ),
            2,
            "subquery",
        ),
        ("CREATE MACRO gain(relevance) AS relevance\n", 1, "a file begins with a comment"),
    ],
)
def test_a_function_that_breaks_the_contract(text, line, rule, folder):
    folder.write({"functions/gain/mine.sql": text})
    with pytest.raises(ContractError) as caught:
        folder.evaluate({}, "CG(gain=mine)", timeout=5)
    assert rule in str(caught.value)
    assert f"{folder.path / 'functions' / 'gain' / 'mine.sql'}:{line}: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("relations/judgments.sql", RELATION.replace("top", "judgments")),
        ("relations/judged_documents/by_join.sql", RELATION),
        ("functions/gain/exp2.sql", "-- x.\nCREATE MACRO gain(relevance) AS relevance\n"),
        ("metrics/other.sql", GOOD),
    ],
)
def test_a_name_is_given_once(name, text, folder):
    folder.write({"metrics/mine.sql": GOOD, name: text})
    with pytest.raises(ContractError, match="is taken by") as caught:
        folder.evaluate({})
    assert f"{folder.path / name}:1: " in str(caught.value)


def test_a_default_that_is_no_function(folder):
    text = GOOD.replace("-- Und", "-- gain(): default cube: gain.\n-- Und").replace(
        "THEN 1", "THEN gain(relevance)"
    )
    with pytest.raises(SqlrankError, match="'cube'"):
        folder.evaluate({"metrics/mine.sql": text})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("policies.toml", "not toml ["),
        ("policies.toml", "[functions]\ngain = 'cube'\n"),
        ("compat/mine.toml", "not toml ["),
        ("compat/mine.toml", "[defaults]\ntie = 'rank'\n"),
        ("compat/mine.toml", "[default]\nties = 'rank'\n"),
    ],
)
def test_settings_files_that_cannot_be_read(name, text, folder):
    folder.write({"metrics/mine.sql": GOOD, name: text})
    with pytest.raises(SqlrankError) as caught:
        folder.evaluate({}, compat="mine" if "compat" in name else None)
    assert name.rpartition("/")[2] in str(caught.value)


def test_a_file_that_is_not_text(folder):
    folder.write({"metrics/mine.sql": GOOD})
    (folder.path / "metrics" / "mine.sql").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ContractError, match=r"mine\.sql"):
        folder.evaluate({})


def test_a_folder_that_is_not_there(folder, tmp_path):
    with pytest.raises(
        ContractError, match=r"is not there. Give a folder with metrics/, relations/ or functions/"
    ):
        folder.evaluate({})
    (tmp_path / "file").write_text("")
    with pytest.raises(ContractError, match="is not there"):
        sqlrank.metrics(tmp_path / "file")


def test_a_folder_without_sql(tmp_path, run, qrels):
    assert sqlrank.evaluate("RR", run=run, qrels=qrels, sql_dir=tmp_path).to_pylist() == [
        {"RR": 0.75}
    ]


def test_either_of_two_conditions_of_a_join_stays_one_condition(tmp_path):
    """Beside the comparison of keys, which is written anew."""
    for folder, name, text in (
        (
            "relations",
            "near",
            (
                "-- near: one row per pair.\nSELECT r.list_id FROM ranked_documents AS r JOIN"
                " judgments AS j ON j.list_id = r.list_id AND (j.relevance > 1 OR r.rank < 3)"
            ),
        ),
        (
            "metrics",
            "near",
            "-- Near: pairs.\nSELECT list_id, COUNT(*) AS pairs FROM near GROUP BY list_id",
        ),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.sql").write_text(text)
    text = " ".join(
        sqlrank.sql("Near", run="run", qrels="qrels", dialect="duckdb", sql_dir=tmp_path).split()
    )
    condition = (
        "judgments.list_id = ranked_documents.list_id AND (judgments.relevance > 1 OR"
        " ranked_documents.rank < 3)"
    )
    assert f"ON {condition}" in text.replace("( ", "(").replace(" )", ")")
