"""The data of the benchmarks: Parquet and DuckDB files made with DuckDB from hashes, kept under
``benchmarks/data/``.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

Kind = Literal["int", "str"]
Order = Literal["clustered", "shuffled"]

FOLDER = Path(__file__).parent / "data"
IMPRESSIONS = FOLDER.parents[1] / "examples" / "data" / "open_bandit" / "impressions.parquet"
CHUNK_ROWS = 10_000_000
"""Rows of one Parquet file, and so of one sort: more would need more memory to make."""

_IDS: dict[Kind, tuple[str, str]] = {
    "int": ("q", "q * 1009 + d"),
    "str": (
        "'query-' || lpad(q::VARCHAR, 14, '0')",
        "'document-' || md5((q * 1009 + d)::VARCHAR)[1:27]",
    ),
}


@dataclass(frozen=True)
class Shape:
    """Length of lists, and their judgments.

    ``grade`` is SQL over ``q`` (query), ``d`` (place of the document in the query) and ``u``
    (uniform in 0..1): the relevance of a retrieved document, NULL if it was not judged. ``missed``
    relevant documents are not retrieved.
    """

    name: str
    docs: int
    grade: str
    missed: int = 0
    systems: int = 1


STANDARD = Shape(
    "standard",
    100,
    "CASE WHEN u < 0.1 THEN 1 + CAST(floor(u * 30) AS INTEGER) WHEN u < 0.2 THEN 0 END",
    missed=2,
)
"""A fifth of the retrieved documents are judged, half of those relevant with grades 1 to 3; two
more were not retrieved.
"""

LONG = Shape("long", 1000, "CASE WHEN d = hash(q) % 1000 THEN 1 END")
"""One relevant document for each query, somewhere among a thousand."""

THOUSAND = Shape("thousand", 1000, STANDARD.grade, missed=2)
"""As the standard, in lists ten times as long."""

SYSTEMS = Shape("systems", 100, STANDARD.grade, missed=2, systems=18)
"""Eighteen orders of the same documents, which share the judgments."""


@dataclass(frozen=True)
class Scores:
    """The distribution of predictions: ``score`` is SQL over ``i``, ``positive`` the probability of
    label 1, SQL over ``score``.

    In each of them 4.6 % of the labels are, but in those that are made to differ in that.
    """

    name: str
    score: str
    positive: str


def _draw_fine_number(salt: int) -> str:
    """Return SQL for a number between 0 and 1, exclusive, with the 52 bits that a double can hold:
    hardly ever two the same.
    """
    return f"((hash(i * 131 + {salt}) >> 12) + 0.5::DOUBLE) / 4503599627370496"


UNIFORM = Scores("uniform", _draw_fine_number(1), "0.092 * score")
"""Hardly ever two the same."""

RARE = Scores("rare", _draw_fine_number(1), "0.006 * score")
HALF = Scores("half", _draw_fine_number(1), "score")
"""As uniform, with 0.3 % and 50 % of positives."""

BETA = Scores(
    "beta",
    f"exp({' + '.join(f'ln({_draw_fine_number(1 + k)}) / {k + 0.1:.1f}' for k in range(20))})",
    "0.04 + 1.2 * score",
)
"""Beta(0.1, 20), which is the product of Beta(0.1 + k, 1) for k from 0 to 19: most near 0, down to
1e-100.
"""

SPIKE = Scores(
    "spike",
    f"CASE WHEN {_draw_fine_number(1)} < 0.99 THEN 0.05 ELSE {_draw_fine_number(2)} END",
    "0.0414 + 0.09 * score",
)
"""Of a hundred scores 99 are the same."""


@dataclass(frozen=True)
class Dataset:
    """A run and its judgments, each a folder of Parquet files."""

    folder: Path
    systems: int

    @property
    def run(self) -> str:
        """The files of the run, as a glob."""
        return str(self.folder / "run" / "*.parquet")

    @property
    def qrels(self) -> str:
        """The files of the judgments, as a glob."""
        return str(self.folder / "qrels" / "*.parquet")

    def make_database(self) -> Path:
        """Return a DuckDB file that holds both as tables, made if it is not there."""
        path = self.folder / "tables.duckdb"
        if not path.exists():
            unfinished = path.with_suffix(".part")
            unfinished.unlink(missing_ok=True)
            with duckdb.connect(str(unfinished)) as connection:
                connection.execute("SET enable_progress_bar = false")
                for name, files in (("run", self.run), ("qrels", self.qrels)):
                    connection.execute(f"CREATE TABLE {name} AS FROM read_parquet('{files}')")
            unfinished.rename(path)
        return path


def store_rows(name: str, query: str) -> str:
    """Return a Parquet file of the rows of a query, made if it is not there."""
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        unfinished = path.with_suffix(".part")
        duckdb.sql(f"COPY ({query}) TO '{unfinished}' (FORMAT parquet)")
        unfinished.rename(path)
    return str(path)


def make_predictions(rows: int, scores: Scores = UNIFORM, campaigns: int = 1000) -> Path:
    """Return a DuckDB file, made if it is not there, with a table ``predictions`` in random order.

    A view ``unweighted`` of it lacks the column weight, which is 0.5 to 2.5.
    """
    path = FOLDER / f"predictions_{scores.name}_{campaigns}_{rows}.duckdb"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        with duckdb.connect(str(unfinished)) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"""
                CREATE TABLE predictions AS
                SELECT CAST({_draw_fine_number(30)} < {scores.positive} AS INTEGER) AS label, score, weight, campaign
                FROM (
                    SELECT
                        i,
                        CAST({scores.score} AS DOUBLE) AS score,
                        0.5 + 2 * {_draw_fine_number(31)} AS weight,
                        CAST(hash(i * 131 + 32) % {campaigns} AS INTEGER) AS campaign
                    FROM (SELECT range AS i FROM range({rows}))
                )""")  # noqa: E501
            connection.execute(
                "CREATE VIEW unweighted AS SELECT label, score, campaign FROM predictions"
            )
        unfinished.rename(path)
    return path


def predictions_as_parquet(database: Path) -> str:
    """Return a Parquet file with the predictions of a DuckDB file, made if it is not there."""
    path = database.with_suffix(".parquet")
    if not path.exists():
        unfinished = path.with_suffix(".part")
        with duckdb.connect(str(database), read_only=True) as connection:
            connection.execute(
                f"SET enable_progress_bar = false; COPY predictions TO '{unfinished}' (FORMAT"
                " parquet)"
            )
        unfinished.rename(path)
    return str(path)


def make_dataset(rows: int, kind: Kind, order: Order, shape: Shape = STANDARD) -> Dataset:
    """Return a data set of about ``rows`` retrieved documents, made if it is not there.

    One query in fifty was not answered and another was not judged.
    """
    folder = FOLDER / f"{shape.name}_{kind}_{order}_{rows}"
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        queries = rows // shape.docs // shape.systems
        for name, slots, select in (
            ("run", shape.docs * shape.systems, _select_run(shape)),
            ("qrels", shape.docs + shape.missed, _select_qrels(shape)),
        ):
            (unfinished / name).mkdir(parents=True)
            _write_chunks(
                unfinished / name, queries * slots, select.format(queries=queries), kind, order
            )
        unfinished.rename(folder)
    return Dataset(folder, shape.systems)


def make_answers(rows: int) -> str:
    """Return a Parquet file, made if it is not there, with a row per query of the standard data:
    documents in order, a quarter of the relevant.
    """
    data = make_dataset(rows, "str", "clustered")
    path = data.folder / "answers.parquet"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        with duckdb.connect() as connection:
            connection.execute(f"""
                SET enable_progress_bar = false;
                COPY (
                    SELECT query_id, retrieved, relevant
                    FROM (
                        SELECT query_id, LIST(doc_id ORDER BY score DESC, doc_id DESC) AS retrieved
                        FROM read_parquet('{data.run}') GROUP BY query_id
                    )
                    FULL JOIN (
                        SELECT query_id, LIST(doc_id) AS relevant FROM read_parquet('{data.qrels}')
                        WHERE relevance > 0 AND hash(doc_id) % 4 = 0 GROUP BY query_id
                    ) USING (query_id)
                ) TO '{unfinished}' (FORMAT parquet)""")
        unfinished.rename(path)
    return str(path)


def _draw_uniform(salt: int) -> str:
    """Return SQL for a number in 0..1 that a 32-bit float holds exactly, since trec_eval reads
    scores into such: ties are ties in all tools.
    """
    return f"(hash(i * 131 + {salt}) >> 40) / 16777216.0"


def _select_run(shape: Shape) -> str:
    """Return the SELECT of retrieved documents over numbers ``i``; a system's lists stand
    together.
    """
    place = f"i // {shape.docs} % {{queries}} AS q, i % {shape.docs} AS d"
    system = f"i // ({shape.docs} * {{queries}}) AS system, " if shape.systems > 1 else ""
    return (
        f"SELECT i, {system}{place}, {_draw_uniform(1)} AS score FROM numbers WHERE i //"
        f" {shape.docs} % {{queries}} % 50 <> 9"
    )


def _select_qrels(shape: Shape) -> str:
    """Return the SELECT of judgments over numbers ``i``: each query has a slot for every document,
    retrieved or missed.
    """
    slots = shape.docs + shape.missed
    return f"""
        SELECT i, q, d, CASE WHEN d >= {shape.docs} THEN 1 ELSE {shape.grade} END AS relevance
        FROM (SELECT i, i // {slots} AS q, i % {slots} AS d, {_draw_uniform(2)} AS u FROM numbers)
        WHERE q % 50 <> 7 AND (d >= {shape.docs} OR {shape.grade} IS NOT NULL)"""


def _write_chunks(folder: Path, numbers: int, select: str, kind: Kind, order: Order) -> None:
    """Write a SELECT over 0..numbers-1 in chunks: stretches of the numbers, or random samples of
    them in random order.
    """
    query_id, doc_id = _IDS[kind]
    chunks = -(-numbers // CHUNK_ROWS)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        for chunk in range(chunks):
            low, high = (numbers * at // chunks for at in (chunk, chunk + 1))
            bounds, sample, key = (
                (f"{low}, {high}", "true", "i")
                if order == "clustered"
                else (f"0, {numbers}", f"hash(i) % {chunks} = {chunk}", "hash(i * 7 + 3)")
            )
            connection.execute(f"""
                COPY (
                    WITH numbers AS (SELECT range AS i FROM range({bounds}) WHERE {sample}), rows AS ({select} ORDER BY {key})
                    SELECT {query_id} AS query_id, {doc_id} AS doc_id, * EXCLUDE (i, q, d) FROM rows
                ) TO '{folder}/{chunk:03}.parquet'""")  # noqa: E501
