"""Every metric file, pasted into DuckDB with the files it reads and run as it is, gives what the
fused statement gives.
"""

import re
from collections.abc import Iterator
from statistics import fmean
from typing import Any

import duckdb
import pytest
from sqlglot import exp

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.sql_file import SqlFile
from sqlrank.rendering.dialects import get_dialect
from website.sections import find_section

LIBRARY = load_registry()
EXAMPLE = {"integer": 3, "number": 0.3}
PLAN = {"score_order": "window"}
RUN = (
    "SELECT 'q' || (i // 9) AS query_id, 'd' || (i * 7 % 9) AS doc_id, (i * 5 % 7) / 4.0 AS score,"
    " i AS rank FROM range(45) AS t(i)"
)
QRELS = (
    "SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 5 % 11) AS doc_id, i * 3 % 5 - 1 AS relevance,"
    " i % 3 AS subtopic FROM range(36) AS t(i)"
)
OTHERS = {
    "history": (
        "SELECT 'q' || (i // 5) AS query_id, 'd' || (i * 3 % 8) AS doc_id FROM range(25) AS t(i)"
    ),
    "items": (
        "SELECT 'd' || (i + 2) AS doc_id, i % 3 AS provider, 'a b c ' || i AS text FROM range(12)"
        " AS t(i)"
    ),
    "features": (
        "SELECT 'd' || (i // 2) AS doc_id, i * 5 % 3 AS category, 1.0 + i % 3 AS value FROM"
        " range(14) AS t(i)"
    ),
    "baseline": (
        "SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 7 % 9) AS doc_id, i * 5 % 7 AS score FROM"
        " range(36) AS t(i)"
    ),
    "clicks": (
        "SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 7 % 9) AS doc_id, 1 + i % 6 * 4 AS rank, i"
        " * 5 % 7 // 5 AS clicked FROM range(36) AS t(i)"
    ),
}
QUERIES = (
    "SELECT 'q' || i AS query_id, CASE WHEN i % 2 = 0 THEN 'a b c ' ELSE 'x y z ' END || i AS text"
    " FROM range(6) AS t(i)"
)
INPUT_NAMES = {name: f"given_{name}" for name in OTHERS}
PREDICTIONS = (
    "SELECT i * 7 % 3 // 2 AS label, (1 + i * 11 % 17) / 20.0 AS score, 1.0 + i % 4 AS weight, i //"
    " 15 AS query_id, (1 + i % 9) / 10.0 AS quantile_level, i % 4 / 4.0 AS interval_low, (1 + i %"
    " 5) / 1.0 AS interval_high, (1 + i % 3) / 2.0 AS seasonal_error FROM range(60) AS t(i)"
)
RECORDS = (
    "SELECT i AS record_id, 'p' || (i * i % 7) AS predicted_cluster, i * 3 % 8 AS true_cluster, 'n'"
    " || (i % 9) AS name FROM range(30) AS t(i)"
)
SPLITS = (
    "SELECT i % 5 AS user_id, i * 3 % 7 AS item_id, i * 5 % 11 AS happened_at, CASE WHEN i * 5 % 11"
    " < 6 THEN 'train' ELSE 'test' END AS split FROM range(30) AS t(i)"
)
LOGS = """SELECT i % 2 AS reward, (1 + i % 7) / 8.0 AS propensity, (1 + i % 5) / 6.0 AS target_propensity, (i % 3) / 3.0 AS predicted_reward,
    (i % 4) / 4.0 AS expected_reward FROM range(30) AS t(i)"""
INTERLEAVED = (
    "SELECT i // 2 AS session_id, CASE WHEN i % 2 = 0 THEN 'A' ELSE 'B' END AS team, i * 7 % 5 AS"
    " clicks FROM range(30) AS t(i)"
)
CLASSIFIED = (
    "SELECT 'c' || (i * 7 % 5) AS label, 'c' || (i * 3 % 4 + i % 2) AS predicted, 1.0 + i % 3 AS"
    " weight FROM range(40) AS t(i)"
)
CLASS_SCORES = (
    "SELECT i // 4 AS prediction_id, i % 4 AS class_id, (1 + i * 7 % 11) / 20.0 AS score, i // 4 *"
    " 3 % 4 AS label, 1.0 + i // 4 % 3 AS weight FROM range(80) AS t(i)"
)
CLASS_LABELS = (
    "SELECT i // 4 AS prediction_id, i % 4 AS class_id, i * 7 % 11 // 6 AS label, i * 5 % 13 // 7"
    " AS predicted, 1.0 + i // 4 % 3 AS weight FROM range(80) AS t(i)"
)
RATINGS = (
    "SELECT i // 3 AS item_id, i % 3 AS judge_id, i // 3 % 4 + i * 5 % 11 % 2 AS rating FROM"
    " range(60) AS t(i)"
)
UPLIFT = (
    "SELECT i * 7 % 11 // 6 AS label, i * 11 % 17 / 16.0 AS score, i * 5 % 7 // 4 AS treatment, 1.0"
    " + i % 3 AS weight FROM range(60) AS t(i)"
)
JUDGED = (
    "SELECT CASE WHEN i % 2 = 0 THEN i * 7 % 11 // 6 END AS label, (i * 7 % 11 + i * 5 % 7) / 16.0"
    " AS score FROM range(60) AS t(i)"
)
PAIRS = "SELECT i AS left_id, 29 - i AS right_id FROM range(20) AS t(i)"


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        for name, query in {
            "given_run": RUN,
            "given_qrels": QRELS,
            "given": PREDICTIONS,
            "given_records": RECORDS,
            "candidate_pairs": PAIRS,
            "given_splits": SPLITS,
            "given_logs": LOGS,
            "given_interleaved": INTERLEAVED,
            "given_classified": CLASSIFIED,
            "given_class_scores": CLASS_SCORES,
            "given_class_labels": CLASS_LABELS,
            "given_ratings": RATINGS,
            "given_uplift": UPLIFT,
            "given_judged": JUDGED,
        }.items():
            database.execute(f"CREATE TABLE {name} AS {query}")
        database.execute(f"CREATE TABLE given_queries AS {QUERIES}")
        database.execute("CREATE VIEW queries AS SELECT * FROM given_queries")
        for name, query in OTHERS.items():
            database.execute(f"CREATE TABLE given_{name} AS {query}")
        for name in (
            "run",
            "qrels",
            "records",
            "splits",
            "logs",
            "interleaved",
            "classified",
            "class_scores",
            "class_labels",
            "ratings",
            "uplift",
            "judged",
            *OTHERS,
        ):
            database.execute(
                f"CREATE VIEW {name} AS SELECT 1 AS group_id, 1 AS unit_id, * FROM given_{name}"
            )
        yield database


class Pasted:
    """The texts of a metric's files, put together as sql/README.md says."""

    def __init__(self, metric: SqlFile) -> None:
        self.values: dict[str, Any] = {}
        self.macros: dict[str, str] = {}
        self.relations: dict[str, str] = {}
        self.settings: dict[str, Any] = dict(PLAN)
        self._take(metric)
        self.body = metric.text

    def _take(self, file: SqlFile) -> None:
        self.settings |= {name: choice.default for name, choice in file.declared_settings.items()}
        for name, param in file.params.items():
            default = param.default if param.default is not None else EXAMPLE[param.type]
            self.values.setdefault(name, default)
        for call in file.tree.find_all(exp.Anonymous):
            if call.name.lower() not in get_dialect("duckdb").file_functions:
                self._macro(call.name.lower())
        for table in file.tree.find_all(exp.Table):
            if table.name not in LIBRARY.roles and table.name not in self.relations:
                relation = LIBRARY.find_relation(table.name, self.settings)
                self._take(relation)
                number, start = relation.steps
                earlier = start
                for step in range(1, number + 1):
                    name = table.name if step == number else f"{table.name}_{step}"
                    self.relations[name] = relation.text.replace(start, earlier)
                    earlier = name

    def _macro(self, slot: str) -> None:
        if slot in self.macros:
            return
        file = LIBRARY.find_function(slot, str(LIBRARY.choose_function(slot, self.settings)))
        for call in file.tree.find_all(exp.Anonymous):
            if call.name.lower() not in get_dialect("duckdb").file_functions:
                self._macro(call.name.lower())
        text = file.text
        for name, param in file.params.items():
            text = text.replace(f"${name}", repr(param.default))
        self.macros[slot] = text.replace("CREATE MACRO", "CREATE OR REPLACE TEMP MACRO")

    def run(self, connection: duckdb.DuckDBPyConnection, key: str) -> list[Any]:
        for macro in self.macros.values():
            connection.execute(macro)
        many = [name for name, value in self.values.items() if isinstance(value, tuple)]
        results = [
            self._execute(connection, key, {**self.values, **dict.fromkeys(many, point)})
            for point in self._points(many)
        ]
        return [
            fmean(values) if len(values) > 1 else values[0] for values in zip(*results, strict=True)
        ]

    def _points(self, many: list[str]) -> tuple[Any, ...]:
        return self.values[many[0]] if many else (None,)

    def _execute(
        self, connection: duckdb.DuckDBPyConnection, key: str, values: dict[str, Any]
    ) -> list[Any]:
        steps = ",\n".join(
            f"{name} AS (\n{text}\n)"
            for name, text in {**self.relations, "pasted": self.body}.items()
        )
        text = f"WITH {steps}\n{key}"
        used = {name: values[name] for name in re.findall(r"\$(\w+)", re.sub(r"--.*", "", text))}
        arguments = ", ".join(f"{name} := {value!r}" for name, value in used.items())
        connection.execute(f"PREPARE pasted AS {text}")
        return [
            row[-1]
            for row in connection.execute(
                f"EXECUTE pasted({arguments})" if used else "EXECUTE pasted"
            ).fetchall()
        ]


def write_metric(file: SqlFile) -> str:
    """Return the metric as a user writes it, with the values that the pasted files were given."""
    return file.display_name + (
        f"@{EXAMPLE[file.cutoff_parameter.type]}"
        if file.cutoff_parameter is not None and file.cutoff_parameter.default is None
        else ""
    )


def _is_pasted(file: SqlFile) -> bool:
    """Return True unless the file has the name of a column for a parameter, which a database cannot
    prepare.
    """
    return not file.measures_column


def list_metrics(role: str, grain: str) -> list[str]:
    """Return the metrics of a role that have a value for each list, or for each group."""
    return sorted(
        name
        for name, file in LIBRARY.metrics.items()
        if _is_pasted(file) and find_input_role(LIBRARY, file) == role and file.grain == grain
    )


@pytest.mark.one_in(24)
@pytest.mark.parametrize("name", list_metrics("run", "list"))
def test_rankings(name, connection):
    file = LIBRARY.find_metric(name)
    pasted = Pasted(file)
    for table in ("evaluated_queries", "ranked_lists"):
        pasted.relations.setdefault(table, LIBRARY.find_relation(table, {}).text)
    found = pasted.run(
        connection,
        "SELECT l.query_id, p.* EXCLUDE (list_id) FROM ranked_lists AS l LEFT JOIN pasted AS p"
        " USING (list_id) ORDER BY 1",
    )
    reads_texts = any("queries.text" in text for text in pasted.relations.values())
    fused = sqlrank.evaluate(
        write_metric(file),
        run="given_run",
        qrels="given_qrels",
        queries="given_queries" if reads_texts else None,
        inputs=INPUT_NAMES,
        connection=connection,
        per_query=True,
        if_undefined="zero",
    )
    assert len(fused) == 6
    assert [value or 0 for value in found] == pytest.approx(
        fused.columns[-1].to_pylist(), abs=1e-12
    )


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", list_metrics("run", "group"))
def test_rankings_of_groups(name, connection):
    file = LIBRARY.find_metric(name)
    (found,) = Pasted(file).run(connection, "SELECT * FROM pasted")
    (fused,) = (
        sqlrank.evaluate(
            write_metric(file),
            run="given_run",
            qrels="given_qrels",
            inputs=INPUT_NAMES,
            connection=connection,
        )
        .columns[-1]
        .to_pylist()
    )
    assert found == pytest.approx(fused, abs=1e-12)
    assert fused != 0


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", list_metrics("predictions", "group"))
def test_predictions(name, connection):
    file = LIBRARY.find_metric(name)
    within_query = "level" in file.declared_settings
    connection.execute(
        f"CREATE OR REPLACE VIEW predictions AS SELECT {'query_id' if within_query else '1'} AS"
        " group_id, 1 AS unit_id, * FROM given"
    )
    found = Pasted(file).run(connection, "SELECT * FROM pasted ORDER BY group_id")
    fused = sqlrank.evaluate(
        write_metric(file),
        predictions="given",
        connection=connection,
        per_query=within_query,
        plan=PLAN,
    )
    assert found[0] is not None
    assert found == pytest.approx(fused.columns[-1].to_pylist(), abs=1e-12)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("role", "name"),
    [
        (role, name)
        for role in (
            "splits", "logs", "interleaved", "classified", "class_scores", "class_labels",
            "ratings", "uplift", "judged",
        )
        for name in list_metrics(role, "group")
    ],
)  # fmt: skip
def test_inputs_of_their_own(role, name, connection):
    file = LIBRARY.find_metric(name)
    (found,) = Pasted(file).run(connection, "SELECT * FROM pasted")
    (fused,) = (
        sqlrank.evaluate(write_metric(file), inputs={role: f"given_{role}"}, connection=connection)
        .columns[-1]
        .to_pylist()
    )
    assert found == pytest.approx(fused, abs=1e-12)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", list_metrics("records", "group"))
def test_records(name, connection):
    file = LIBRARY.find_metric(name)
    (found,) = Pasted(file).run(connection, "SELECT * FROM pasted")
    inputs = {
        "records": "given_records",
        **({"candidate_pairs": "candidate_pairs"} if find_section(file) == "blocking" else {}),
    }
    (fused,) = (
        sqlrank.evaluate(write_metric(file), inputs=inputs, connection=connection)
        .columns[-1]
        .to_pylist()
    )
    assert found == pytest.approx(fused, abs=1e-12)
