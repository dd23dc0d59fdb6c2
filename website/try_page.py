"""The page on which readers run SQL with functions of metrics, on samples and on files of their
own, in the browser.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import duckdb

from sqlrank.routines.function_script import input_functions
from website import command_outputs
from website.page_templates import render_template

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]
PLACE = "try.md"
FILES = "try"
"""Folder of the site with the files of the page."""

CACHE_FOLDER = ROOT / ".cache" / "try"
FUNCTIONS = "functions.sql"


@dataclass(frozen=True)
class Sample:
    """Tables to try SQL on.

    Attributes:
        title: Text of its button.
        tables: Files by the name of their table.
        statement: The statement that is run.
    """

    title: str
    tables: Mapping[str, str]
    statement: str


SAMPLES = (
    Sample(
        "Rankings",
        {"run": "run.csv", "qrels": "qrels.csv"},
        "SELECT * EXCLUDE (group_key)\nFROM sqlrank.rankings(run, qrels, k := 10);",
    ),
    Sample(
        "Clicks",
        {"impressions": "impressions.csv"},
        "SELECT group_key AS campaign, ROUND(auc, 4) AS auc, ROUND(log_loss, 4) AS log_loss,"
        " num_predictions\nFROM sqlrank.predictions(impressions, by := campaign)\nORDER BY"
        " campaign;",
    ),
    Sample(
        "Answers of a RAG system",
        {"answers": "answers.jsonl"},
        "SELECT\n  intent, COUNT(*) AS questions,\n  ROUND(AVG(sqlrank.ndcg_at(retrieved_ids,"
        " gold_ids, 5)), 4) AS ndcg,\n  ROUND(AVG(sqlrank.recall_at(retrieved_ids, gold_ids, 5)),"
        " 4) AS recall\nFROM answers\nGROUP BY intent\nORDER BY intent;",
    ),
)

_QUERIES = {
    "run.csv": (
        "SELECT query_id, doc_id, score FROM read_csv('{data}/trec_eval/results.test', delim ="
        " '\\t', header = false, names = ['query_id', 'iteration', 'doc_id', 'rank', 'score',"
        " 'tag'])"
    ),
    "qrels.csv": (
        "SELECT query_id, doc_id, relevance FROM read_csv('{data}/trec_eval/qrels.test', "
        "delim = ' ', header = false, names = ['query_id', 'iteration', 'doc_id', 'relevance'])"
    ),
    "impressions.csv": (
        "SELECT campaign, policy, click AS label, score_boosting AS score FROM"
        " '{data}/open_bandit/impressions.parquet'"
    ),
}
"""Queries that make the files of samples of example data."""


def build_try_page() -> str:
    """Return the page, of which docs/assets/run.mjs fills in the part that runs SQL."""
    samples = escape(json.dumps([sample.__dict__ for sample in SAMPLES]))
    return render_template("try_page.md", files=FILES, samples=samples)


def list_files() -> dict[str, Path]:
    """Return the files that the page loads by their place in the site, made unless they are
    kept.
    """
    folder = (
        CACHE_FOLDER
        / sha256(
            f"{command_outputs.source_digest()}{Path(__file__).read_text('utf-8')}".encode()
        ).hexdigest()
    )
    if not folder.exists():
        rmtree(CACHE_FOLDER, ignore_errors=True)
        folder.mkdir(parents=True)
        with duckdb.connect() as connection:
            for name, query in _QUERIES.items():
                connection.execute(
                    f"COPY ({query.format(data=ROOT / 'examples' / 'data')}) TO '{folder / name}'"
                    " (HEADER)"
                )
        (folder / "answers.jsonl").write_bytes(
            (ROOT / "examples/data/rag/candidate.jsonl").read_bytes()
        )
        (folder / FUNCTIONS).write_text(input_functions().sql, "utf-8")
    return {f"{FILES}/{path.name}": path for path in sorted(folder.iterdir())}
