"""Names are terms of the field: none of a list of words that say nothing, and each exported name
occurs once.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.registry.loader import load_registry

ROOT = Path(__file__).parents[2]
PACKAGE, SQL, GOLDEN = ROOT / "sqlrank", ROOT / "sql", ROOT / "tests/engines/golden"

CODE = ("sqlrank", "website", "action", "benchmarks", "examples")
"""Folders of code, except that of tests."""

NOT_NAMES = {
    "asked", "given", "held", "kept", "made", "told", "said", "known", "shown", "written", "found", "sure", "alike", "judged", "wanted",
    "road", "looks", "parts", "sides", "places", "ends", "whole", "beside", "room", "home",
}  # fmt: skip
"""Words without a meaning in the name of a module, class, function, constant, relation or step."""

FIELD_WORDS = {"judged", "given", "parts"}
"""Of these words, those that are terms in SQL: judged documents, the rows given before any was
dropped, parts of a segment.
"""


NOT_IN_TESTS = {
    "asked", "told", "said", "known", "sure", "alike", "wanted", "road", "looks", "sides", "beside", "room", "home",
}  # fmt: skip
"""Of these words, those that are no names of tests either; others are verbs in sentences, such as
"is found".
"""


PUBLIC_NAMES = {name for name in sqlrank.__all__ if name.islower() and "_" not in name} | {
    "fit",
    "learn",
    "log",
    "main",
}
"""Functions of one word that callers write: those of the package, of its modules for learning and
MLflow, and commands.
"""

OVERRIDES = {
    "CommandGroup.invoke",
    "SqlrankProvider._evaluator",
    "SqlrankProvider.supports",
    "UniqueOptionCommand.invoke",
}
"""Methods that a base class of another package names."""

METHOD_VERBS = {
    "add", "annotate", "append", "check", "close", "compare", "connect", "describe", "evaluate", "explain", "find", "interrupt",
    "parse", "read", "release", "remove", "render", "replace", "resolve", "restrict", "run", "save", "slice", "stage", "substitute", "wrap",
    "write",
}  # fmt: skip
"""Verbs that are names of methods: the object is that of the class."""


def find_bad_words(name: str, allowed: Collection[str] = ()) -> set[str]:
    """Return the words of a name that say nothing; ``of`` is one at either end."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])([A-Z])", r" \1", name).lower())
    return ({*words} & NOT_NAMES - {*allowed}) | (
        {"of"} & {words[0], words[-1]} if len(words) > 1 else {*words} & {"of"}
    )


def find_assigned(statements: list[ast.stmt]) -> list[str]:
    """Return the names that statements assign: constants of a module, or fields of a class."""
    targets = [
        target
        for node in statements
        for target in getattr(node, "targets", [getattr(node, "target", None)])
        if target is not None
    ]
    return [
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    ]


def iterate_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those within others."""
    blocks = [tree.body]
    for block in blocks:
        yield from block
        blocks += [
            nested
            for item in block
            for name in ("body", "orelse", "finalbody")
            if isinstance(nested := getattr(item, name, None), list)
        ]


class ModuleNames(NamedTuple):
    """The names of a module."""

    definitions: list[str]
    """Classes, functions, methods, fields and constants."""

    exports: list[str]
    """Names that other modules may import."""

    one_word_functions: list[str]
    """Functions whose name is one word, methods as ``Class.method``, without properties, which are
    values.
    """

    variables: list[str]
    """Parameters and local variables, without booleans such as ``is_given``."""


@cache
def read_names(path: Path) -> ModuleNames:
    """Return the names of a module, of tests without variables."""
    tree = ast.parse(path.read_text("utf-8"))
    statements = [*iterate_statements(tree)]
    classes = [node for node in statements if isinstance(node, ast.ClassDef)]
    owners = {id(method): f"{node.name}." for node in classes for method in node.body}
    functions = [node for node in statements if isinstance(node, ast.FunctionDef)]
    exports = [
        node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    ] + find_assigned(tree.body)
    nodes = [] if ROOT / "tests" in path.parents else [*ast.walk(tree)]
    variables = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    variables |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return ModuleNames(
        [node.name for node in classes + functions]
        + find_assigned(tree.body)
        + [name for node in classes for name in find_assigned(node.body)],
        [name for name in dict.fromkeys(exports) if not name.startswith("_")],
        [
            owners.get(id(node), "") + node.name
            for node in functions
            if "_" not in node.name.strip("_")
            and not node.name.endswith("__")
            and not any(
                ast.unparse(decorator).endswith("property") for decorator in node.decorator_list
            )
        ],
        sorted(name for name in variables if name.strip("_") and not name.startswith("is_")),
    )


def test_tests_have_names_of_the_field():
    names = [
        (path.name, name)
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in read_names(path).definitions
        if name.startswith("test_")
    ]
    assert len(names) > 1000
    assert [name for name in names if {*name[1].split("_")} & NOT_IN_TESTS] == []


def test_helpers_of_tests_benchmarks_and_tools_have_names_of_the_field():
    """Benchmarks have sides that run in turn, Spark has a home directory, PFound is a metric, and
    tests have verbs such as "is shown".
    """
    allowed = {*FIELD_WORDS, "sides", "home", "found"}
    allowed_by_folder = dict.fromkeys(("benchmarks", "examples", "website"), allowed)
    allowed_by_folder["tests"] = allowed | (NOT_NAMES - NOT_IN_TESTS)
    paths = {
        path: words
        for folder, words in allowed_by_folder.items()
        for path in (ROOT / folder).rglob("*.py")
    }
    assert len(paths) > 300
    found = {
        path: {
            path.stem,
            *(
                name
                for name in read_names(path).definitions
                if not (name.startswith("test_") or name.isupper())
            ),
        }
        for path in paths
    }
    wrong = {
        str(path.relative_to(ROOT)): {name for name in names if find_bad_words(name, paths[path])}
        for path, names in found.items()
    }
    assert {path: names for path, names in wrong.items() if names} == {}


def test_modules_have_names_of_the_field():
    paths = [path for path in PACKAGE.rglob("*") if path.suffix == ".py" or path.is_dir()]
    assert [
        str(path.relative_to(ROOT)) for path in paths if find_bad_words(path.stem.strip("_"))
    ] == []


def test_a_basename_occurs_once():
    """A module of the command line has the name of its command."""
    paths = [
        path
        for path in PACKAGE.rglob("*.py")
        if path.stem not in {"__init__", "__main__"} and path.parent.name != "cli"
    ]
    assert sorted(path.stem for path in paths) == sorted({path.stem for path in paths})


def test_definitions_have_names_of_the_field():
    found = {
        str(path): [name for name in read_names(path).definitions if find_bad_words(name)]
        for path in PACKAGE.rglob("*.py")
    }
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize("folder", CODE)
def test_variables_have_names_of_the_field(folder):
    """Names and pages have parts, comparisons and benchmarks have sides, documents are judged, and
    windows have ends.
    """
    allowed = {"window_ends", "Sides"}
    found = {path: read_names(path).variables for path in (ROOT / folder).rglob("*.py")}
    wrong = {
        path: [
            name
            for name in names
            if name not in allowed and find_bad_words(name, {"judged", "parts", "sides"})
        ]
        for path, names in found.items()
    }
    assert {path: names for path, names in wrong.items() if names} == {}


@pytest.mark.parametrize("folder", CODE)
def test_functions_have_a_verb_and_an_object(folder):
    """A word alone is a noun without a verb, such as ``types``, or a verb without an object; the
    object of a method may be its class.
    """
    paths = [*(ROOT / folder).rglob("*.py")]
    assert paths
    found = {str(path.relative_to(ROOT)): read_names(path).one_word_functions for path in paths}
    wrong = {
        path: [
            name
            for name in names
            if name not in PUBLIC_NAMES | OVERRIDES and name.partition(".")[2] not in METHOD_VERBS
        ]
        for path, names in found.items()
    }
    assert {path: names for path, names in wrong.items() if names} == {}


def test_exceptions_of_names_occur():
    found = {name for path in PACKAGE.rglob("*.py") for name in read_names(path).one_word_functions}
    assert found >= PUBLIC_NAMES | OVERRIDES
    assert {name.partition(".")[2] for name in found} >= METHOD_VERBS


def test_an_exported_name_occurs_once():
    """A command has the name of its function, and each dialect is the DIALECT of its file."""
    paths = [path for path in PACKAGE.rglob("*.py") if path.parent.name not in {"cli", "dialects"}]
    counts = Counter(name for path in paths for name in read_names(path).exports)
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    "folder", ["relations", "functions", "inputs", "analyses", "settings", "install"]
)
def test_files_have_names_of_the_field(folder):
    paths = list((SQL / folder).rglob("*"))
    assert paths
    assert [str(path) for path in paths if find_bad_words(path.stem, FIELD_WORDS)] == []


def test_steps_of_statements_have_names_of_the_field():
    found = {}
    for path in GOLDEN.glob("*_duckdb.sql"):
        tree = sqlglot.parse_one(path.read_text("utf-8"), dialect="duckdb")
        found[path.name] = [
            cte.alias for cte in tree.find_all(exp.CTE) if find_bad_words(cte.alias, FIELD_WORDS)
        ]
    assert len(found) > 10
    assert {name: steps for name, steps in found.items() if steps} == {}


def test_banned_words_are_found():
    assert find_bad_words("ToldOfComparison") == {"told"}
    assert find_bad_words("is_of_rows") == find_bad_words("half_open") == set()
    assert (
        find_bad_words("value_of") == find_bad_words("of_lists") == find_bad_words("of") == {"of"}
    )
    assert find_bad_words("judged_documents", FIELD_WORDS) == set()


def test_aliases_of_metrics_are_their_names_in_snake_case():
    """They are the columns of printed statements."""
    aliases = {
        file.full_name: str(file.tree.named_selects[-1])
        for file in load_registry().metrics.values()
        if " of " not in file.full_name
    }
    assert [alias for alias, count in Counter(aliases.values()).items() if count > 1] == []
    assert [
        alias
        for alias in aliases.values()
        if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", alias)
    ] == []
    named = {
        name: name.lower().replace("@k", "_at_k").replace("11pt", "elevenpt") for name in aliases
    }
    assert [
        name
        for name, alias in aliases.items()
        if alias.replace("_", "") != named[name].replace("_", "")
    ] == []
    assert [
        name
        for name, alias in aliases.items()
        if re.search(r"[a-z]{2}[A-Z][a-z]{2}", name) and "_" not in alias
    ] == []
