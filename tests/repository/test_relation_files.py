"""SQL files read on their own: a first line on the rows, names of joined tables, comments of
columns.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_file import ANNOTATIONS, read_grain
from sqlrank.registry.sql_folder import sql_root, strip_header_comment
from tests.repository.test_names import FIELD_WORDS, find_bad_words

FOLDERS = ("relations", "analyses", "inputs")
CURVES = [file.path for file in load_registry().curves.values()]
FILES = sorted(
    [*CURVES, *(path for folder in FOLDERS for path in (sql_root() / folder).rglob("*.sql"))]
)
KEYS = {"list_id": "list", "group_id": "group"}
LONGEST_COMMENT = 60


def list_faults(check: Callable[[Path], Any]) -> dict[str, Any]:
    """Return what a check of a file finds, of all files at once: a test of each would take longer to
    start than to run.
    """
    assert len(FILES) > 300
    faults = {str(path.relative_to(sql_root())): check(path) for path in FILES}
    return {path: fault for path, fault in faults.items() if fault}


@cache
def read_tree(path: Path) -> Any:
    return sqlglot.parse_one(strip_header_comment(path.read_text("utf-8")), read="duckdb")


def find_keys(path: Path, text: str) -> list[str]:
    """Return the keys of the rows, or of the relation whose rows they are."""
    library = load_registry()
    if path in CURVES:
        return ["group"]
    grain = read_grain(re.findall(r"^-- Grain: (.+)$", text, re.MULTILINE)[0])
    assert grain is not None
    while grain.source in library.relation_names - library.roles.keys():
        source = library.relation_files(grain.source)[0].row_grain
        assert source is not None
        grain = source
    return [KEYS[column] for column in grain.columns if column in KEYS]


def test_the_first_line_says_what_a_row_is():
    """The words "per list" and "per group" are replaced by the keys of a statement, and a parameter
    is not replaced in a comment.
    """

    def check(path):
        text = path.read_text("utf-8")
        sentence = text.splitlines()[0].partition(": ")[2]
        keys = find_keys(path, text)
        # of an input, whose groups are columns of the caller
        rows = ["prediction", "row"] if keys == ["group"] else []
        is_right = (
            re.fullmatch(r"one row(| per [^.]+?| per .+?[,:;] .+|[,:] .+)\.", sentence)
            and "$" not in sentence
            and (not keys or re.match(rf"one row per ({'|'.join([*keys, *rows])})\b", sentence))
        )
        return "" if is_right else sentence

    assert list_faults(check) == {}


def test_the_readme_counts_the_files_and_begins_with_some_that_are_there():
    rows = re.findall(
        r"^\| (\w+)/ \| (\d+) \|.*\]\((.+?)\) \|$",
        (sql_root() / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert {folder: int(count) for folder, count, _ in rows} == {
        folder.name: sum(path.is_file() for path in folder.rglob("*"))
        for folder in sql_root().iterdir()
        if folder.is_dir()
    }
    assert all((sql_root() / path).is_file() for *_, path in rows)


def test_files_of_metrics_are_named_as_their_columns():
    """A name behind it tells files of one column apart."""
    assert {
        file.path.stem: file.value_name
        for file in load_registry().metrics.values()
        if re.sub("_(at_k|of_predictions)$", "", file.path.stem) != file.value_name
    } == {}


def test_comments_of_metrics_say_what_they_are_before_they_declare():
    """Prose comes first, and after the reference only what statements need."""
    keyword = re.compile(rf"-- ({'|'.join(ANNOTATIONS)}|\$\w+|\w+\(\)|\w+(?=: default )): ")
    faults = {}
    for file in load_registry().metric_files:
        lines = file.path.read_text("utf-8").partition("\nSELECT")[0].splitlines()[1:]
        kinds = [match and match[1] for match in map(keyword.match, lines)]
        first = next(place for place, kind in enumerate(kinds) if kind)
        source = kinds.index("Source")
        if None in kinds[first:] or not {*kinds[source + 1 :]} <= {"Nonzero", "Tie expectation"}:
            faults[file.full_name] = kinds
    assert faults == {}


def test_words_that_stand_for_several_columns_are_declared():
    paths = [*(sql_root() / "analyses").rglob("*.sql")]
    declared = {
        path: re.findall(r"^-- For each: (.+)$", path.read_text("utf-8"), re.MULTILINE)
        for path in paths
    }
    assert sum(map(bool, declared.values())) >= 8
    for path, lines in declared.items():
        names = {node.name for node in read_tree(path).find_all(exp.Identifier)}
        for word in re.sub(r" \(.*?\)|, and .*", "", "".join(lines)).split(", "):
            assert not word or any(word in re.split("_", name) for name in names), (path, word)


@pytest.mark.parametrize(
    "paths",
    [sql_root().rglob("*.sql"), Path(sqlrank.__file__).parent.rglob("*.py")],
    ids=["sql", "modules"],
)
def test_no_two_files_have_the_same_first_line(paths):
    """A first line says which variant of a relation its file is."""
    lines = Counter(path.read_text("utf-8").partition("\n")[0] for path in paths)
    assert len(lines) > 1
    assert [line for line, count in lines.items() if line and count > 1] == []


def test_what_is_joined_has_a_name():
    """Only a table that is joined to itself has another name, of more than a letter; a subquery is
    named by a plural noun, which says what a row is.
    """
    library = load_registry()

    def check(path):
        tree = read_tree(path)
        tables = [table for table in tree.find_all(exp.Table) if table.alias]
        selfs = [
            table
            for table in tables
            if [other.name for other in table.parent_select.find_all(exp.Table)].count(table.name)
            == 1
        ]
        names = [
            subquery.alias for subquery in tree.find_all(exp.Subquery) if subquery.parent_select
        ]
        return [
            *(table.alias for table in tables if len(table.alias) == 1),
            *(table.alias for table in selfs),
            *(name for name, count in Counter(names).items() if count > 1),
            *(
                name
                for name in names
                if not name.endswith(("s", "range", "popularity", "information"))
                or find_bad_words(name, FIELD_WORDS)
                or name in library.relation_names | library.roles.keys()
            ),
        ]

    assert list_faults(check) == {}


def test_subqueries_of_different_relations_have_different_names():
    """They are steps of one statement; equal subqueries are one step."""
    subqueries = {}
    for file in load_registry().relations.values():
        for subquery in read_tree(file.path).find_all(exp.Subquery):
            if subquery.parent_select:
                subqueries.setdefault(subquery.alias, {}).setdefault(
                    file.name, subquery.this.sql(comments=False)
                )
    clashes = {
        name: found
        for name, found in subqueries.items()
        if len(found) > 1 and len(set(found.values())) > 1
    }
    assert clashes == {}


def test_subqueries_say_what_a_row_is():
    def check(path):
        subqueries = [
            subquery
            for subquery in read_tree(path).find_all(exp.Subquery)
            if isinstance(subquery.parent, (exp.From, exp.Join))
        ]
        selects = [next(subquery.this.find_all(exp.Select, bfs=False)) for subquery in subqueries]
        lines = ["".join(select.comments or []).strip() for select in selects]
        return [line for line in lines if not re.match(r"one row\b", line) or line.endswith(".")]

    assert list_faults(check) == {}


def test_comments_of_columns_are_short():
    """Those of inputs are the words of messages."""

    def check(path):
        if path.is_relative_to(sql_root() / "inputs"):
            return []
        columns = [
            column
            for select in read_tree(path).find_all(exp.Select)
            for column in select.expressions
        ]
        comments = [
            " ".join(column.comments or column.unalias().comments or []).strip()
            for column in columns
        ]
        return [
            comment
            for comment in comments
            if len(comment) > LONGEST_COMMENT or comment.endswith(".") or "$" in comment
        ]

    assert list_faults(check) == {}


def test_a_missing_rank_is_sorted_without_a_number():
    """2147483647 is no rank; as a modulus it stands after ``%`` and ``/``."""
    pattern = re.compile(r"(?:THEN|ELSE) 214748\d+.*")
    assert list_faults(lambda path: pattern.findall(path.read_text("utf-8"))) == {}


MOST_REPEATED_NODES = 13
REPEATED = {
    "READ_CSV(": "a reader is a whole file, which DuckDB runs alone",
    "TRIM(line": "a reader is a whole file, which DuckDB runs alone",
    "SUM(CASE WHEN score < 0 OR score > 1": "a check of an input is a whole file",
    "SUM(CASE WHEN label = ": "a count of rows is as short as a name for it",
}
"""Beginnings of longer expressions that may stand in several files, with the reason."""


def iterate_expressions(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield values and conditions that have several operands, without those of joins."""
    skipped = node.args.get("on") if isinstance(node, exp.Join) else None
    for child in node.iter_expressions():
        if child is not skipped:
            yield from iterate_expressions(child)
    if isinstance(node, exp.Condition) and not isinstance(node, (exp.Column, exp.If)):
        yield node


def test_a_long_expression_stands_in_one_file():
    """Elsewhere it is a function, a column of a relation or a slot. Files of metrics and curves may
    repeat those of others: each is read by itself.
    """
    places = {}
    for path in sorted(sql_root().rglob("*.sql")):
        if path.is_relative_to(sql_root() / "install"):
            continue
        tree = read_tree(path).copy()
        for node in tree.walk():
            node.comments = None
        for node in iterate_expressions(tree):
            if sum(1 for _ in node.walk()) > MOST_REPEATED_NODES:
                text = node.sql("duckdb", normalize=True)
                places.setdefault(text, set()).add(str(path.relative_to(sql_root())))
    repeated = {
        text: sorted(files)
        for text, files in places.items()
        if len(files) > 1 and not all(file.startswith("metrics/") for file in files)
    }
    assert {
        text: files for text, files in repeated.items() if not text.startswith((*REPEATED,))
    } == {}
    assert all(any(text.startswith(start) for text in repeated) for start in REPEATED)


NAMES_ELSEWHERE = {"effective_df", "gm_map", "latency_ms", "mean_revenue", "ppi_py", "trec_eval"}
"""A column that the compiler names, columns of examples, and names of other tools."""


def test_comments_mention_names_and_values_that_there_are():
    library = load_registry()
    selectors = library.policies | library.plans
    comments, names = [], {*selectors, *library.functions, *NAMES_ELSEWHERE}
    names |= {value for selector in selectors.values() for value in selector["values"]}
    for path in sorted(sql_root().rglob("*.sql")):
        names |= {path.stem, path.parent.name}
        for line in path.read_text("utf-8").splitlines():
            code, _, comment = line.partition("--")
            names |= set(re.findall(r"\w+", code.lower()))
            if not comment.startswith(("     ", " Source:", " Use when:")):
                comments.append((f"{path.relative_to(sql_root())}: {line.strip()}", comment))
    assert len(comments) > 5000
    assert [
        place
        for place, comment in comments
        if set(re.findall(r"(?<![/\w])[a-z]{2,}(?:_[a-z0-9]+)+\b(?!\.\w)", comment)) - names
    ] == []
    comments += [
        (f"{path.relative_to(sql_root())}: {line}", line)
        for path in sql_root().rglob("*.toml")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert [
        place
        for place, comment in comments
        for name, value in re.findall(r"\b([a-z_]+)=([a-z]\w*)", comment)
        if name in selectors and value not in {"map", *selectors[name]["values"]}
    ] == []
