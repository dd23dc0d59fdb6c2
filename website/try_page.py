"""The page on which readers run SQL with functions of metrics, on samples and on files of their
own, in the browser.
"""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from html import escape
from pathlib import Path
from shutil import copy, rmtree
from typing import Any

import duckdb

from sqlrank.routines.function_script import input_functions
from website import command_outputs
from website.page_templates import render_template

ROOT = Path(__file__).parents[1]
PLACE = "try.md"
FILES = "try"
"""Folder of the site with the files of the page."""

CACHE_FOLDER = ROOT / ".cache" / "try"
TEXT = Path(__file__).with_suffix(".toml").read_text("utf-8")
CONTENT: dict[str, Any] = tomllib.loads(TEXT)


def build_try_page() -> str:
    """Return the page, of which docs/assets/run.mjs fills in the part that runs SQL."""
    samples = [sample | {"statement": sample["statement"].strip()} for sample in CONTENT["samples"]]
    return render_template("try_page.md", files=FILES, samples=escape(json.dumps(samples)))


def list_files() -> dict[str, Path]:
    """Return the files that the page loads by their place in the site, made unless they are
    kept.
    """
    digest = sha256(f"{command_outputs.source_digest()}{TEXT}".encode()).hexdigest()
    folder, data = CACHE_FOLDER / digest, ROOT / "examples" / "data"
    if not folder.exists():
        rmtree(CACHE_FOLDER, ignore_errors=True)
        folder.mkdir(parents=True)
        with duckdb.connect() as connection:
            for name, query in CONTENT["files"].items():
                connection.execute(query.format(data=data, target=folder / name))
        copy(data / "rag" / "candidate.jsonl", folder / "answers.jsonl")
        (folder / "functions.sql").write_text(input_functions().sql, "utf-8")
    return {f"{FILES}/{path.name}": path for path in sorted(folder.iterdir())}
