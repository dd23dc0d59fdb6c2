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
        assert grain.source in {"", *(table.name for table in tree.find_all(sqlglot.exp.Table))}, (
            path
        )


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


def change_relation(old: str, new: str) -> str:
    assert old in RELATION
    return RELATION.replace(old, new)


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


def test_policies_of_metrics_are_those_that_their_files_declare():
    library = load_registry()
    declared = {
        choice.name
        for file in library.metric_files
        for choice in file.declared_settings.values()
        if not choice.is_slot
    }
    assert library.metric_policies == declared - {"level"}
