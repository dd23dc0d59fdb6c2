"""Imports between packages as in CONTRIBUTING.md's map, without cycles, and the limits on lines of
modules and functions.
"""

import ast
import re
from dataclasses import MISSING, fields
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, TableFunctionForm
from sqlrank.rendering.dialect_forms import LIST_OPERATIONS
from sqlrank.rendering.dialects import DEFAULT_DIALECT, DIALECT_NAMES, DIALECTS, normalize_dialect
from sqlrank.routines import FUNCTION_DIALECTS
from tests.budget import MAX_FLOORS, count_floors

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sqlrank"
MAX_MODULE_LINES = 900
MAX_TEST_MODULE_LINES = 800
MAX_FUNCTION_LINES = 60


@cache
def list_nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of a module, which several tests look through."""
    return [*ast.walk(ast.parse(path.read_text("utf-8")))]


@cache
def find_imports() -> dict[str, set[str]]:
    """Return the modules of sqlrank that each module imports, also for types only or within a
    function.
    """
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        nodes = list_nodes(path)
        named = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        named |= {
            f"{node.module}.{alias.name}"
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        named |= {
            alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
        }
        found[module] = named
    return {
        module: {name for name in named if name in found and name != module}
        for module, named in found.items()
    }


def get_package(module: str) -> str:
    """Return the package of a module, or its own name if it stands at the top."""
    return [*module.split("."), ""][1]


def read_map() -> dict[str, set[str]]:
    """Return the map of CONTRIBUTING.md: the modules that each package may import."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Map")[2]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows}


def test_packages_import_what_the_map_allows():
    free = {
        "", "cancellation", "errors", "sql_ast", "_version", "__main__",
    }  # fmt: skip
    seen = {}
    for module, named in find_imports().items():
        seen.setdefault(get_package(module), set()).update(get_package(other) for other in named)
    for name in seen.keys() - free:
        allowed = read_map()[name]
        assert seen[name] - free - {name} <= allowed, (
            f"{name} imports more than the map of CONTRIBUTING.md says"
        )
        assert allowed <= seen[name], f"the map says that {name} imports what it does not"
    assert read_map().keys() == seen.keys() - free


def test_the_arrows_point_down():
    list(TopologicalSorter(read_map()).static_order())


def test_packages_stand_on_few_floors():
    assert count_floors() <= MAX_FLOORS, "a package imports one that stood above it"


def test_no_circle_of_modules():
    # The package itself imports its public names when they are asked for.
    graph = {
        module: {other for other in named if other != "sqlrank"}
        for module, named in find_imports().items()
        if module != "sqlrank"
    }
    list(TopologicalSorter(graph).static_order())


def test_modules_are_short():
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {
        path.name: length for path, length in lengths.items() if length > MAX_MODULE_LINES
    } == {}
    tests = {
        path: len(path.read_text("utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")
    }
    assert {
        path.name: length for path, length in tests.items() if length > MAX_TEST_MODULE_LINES
    } == {}


def test_functions_are_short():
    """Parameters and docstrings of public functions do not count, of which there are many."""
    too_long = {}
    for path in PACKAGE.rglob("*.py"):
        for node in list_nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = (
                    node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                )
                length = (node.end_lineno or 0) - body[0].lineno + 1
                if length > MAX_FUNCTION_LINES:
                    too_long[f"{path.name}:{node.name}"] = length
    assert too_long == {}


def test_arguments_are_passed_as_locals_by_public_functions_alone():
    """Only they do it, before any other statement: which of their parameters are read is a test of
    options.
    """
    calls, allowed = set(), set()
    for path in PACKAGE.rglob("*.py"):
        for node in list_nodes(path):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"locals", "vars"}
                and not node.args
            ):
                calls.add((path.name, node.lineno))
            if isinstance(node, ast.FunctionDef) and [
                ast.unparse(decorator) for decorator in node.decorator_list
            ] == ["entry_point"]:
                allowed |= {
                    (path.name, item.lineno)
                    for item in node.body[1:2]
                    if ast.unparse(item) == "arguments = locals()"
                }
    assert calls == allowed, "pass arguments by keyword"


DIALECT_FILES = PACKAGE / "rendering" / "dialects"
NAMED_DIALECTS = {
    ("call/request.py", "clickhouse"): "its tokenizer reads the quotes of all dialects",
    ("engines/remote_database.py", "datafusion"): "the package whose connections have no cursor",
}
"""Dialects that other modules name, with reasons."""


def find_dialect_names(code: str, chooses: bool) -> set[str]:
    """Return the names of dialects in code. DuckDB's is that of the SQL files and of work on this
    machine, and a choice only where it is compared or a key.
    """
    nodes = list(ast.walk(ast.parse(code)))
    constants = [
        node for node in nodes if isinstance(node, ast.Constant) and node.value in DIALECT_NAMES
    ]
    choices = (ast.Compare, ast.Dict, ast.Tuple, ast.Set, ast.List)
    compared = {
        id(child)
        for node in nodes
        if isinstance(node, choices)
        for child in ast.iter_child_nodes(node)
    }
    return {
        str(node.value)
        for node in constants
        if node.value != DEFAULT_DIALECT or (chooses and id(node) in compared)
    }


def test_a_dialect_is_named_in_its_file_alone():
    found = {
        (str(path.relative_to(PACKAGE)), name)
        for path in PACKAGE.rglob("*.py")
        if path.parent != DIALECT_FILES
        # these packages hold the sessions of DuckDB, and the option whose default it is
        for name in find_dialect_names(
            path.read_text("utf-8"),
            chooses=path.relative_to(PACKAGE).parts[0] not in {"engines", "cli"},
        )
    }
    assert found - NAMED_DIALECTS.keys() == set(), (
        "declare a field of sqlrank.rendering.dialect.Dialect, and give it in the file of the"
        " dialect"
    )
    assert NAMED_DIALECTS.keys() <= found, "an exception that no module needs"


@pytest.mark.parametrize(
    "code",
    [
        "x == 'trino'", "{'trino': 1}", "('trino', 'x')", "f(x='trino')", "x in {'duckdb'}",
        "{'duckdb': 1}",
    ],
)  # fmt: skip
def test_names_of_dialects_are_recognized(code):
    assert find_dialect_names(code, chooses=True)
    assert not find_dialect_names("tree.sql('duckdb')", chooses=True)


def test_a_dialect_imports_no_other_but_the_one_that_it_is_like():
    imported = {
        path.stem: re.findall(r"rendering\.dialects import (\w+)", path.read_text("utf-8"))
        for path in DIALECT_FILES.glob("*.py")
    }
    assert all(len(others) <= 1 for others in imported.values())
    assert not any(imported[other] for others in imported.values() for other in others)


@pytest.mark.parametrize("record", [Dialect, FunctionForms, TableFunctionForm])
def test_a_dialect_that_is_half_declared_fails_with_the_field(record):
    required = {
        field.name: None
        for field in fields(record)
        if field.default is field.default_factory is MISSING
    }
    assert required
    for name in required:
        with pytest.raises(TypeError, match=rf"missing 1 required keyword-only argument: '{name}'"):
            record(**{other: None for other in required if other != name})


def test_pages_list_every_dialect_and_its_other_names():
    page = (ROOT / "docs" / "engines.md").read_text("utf-8")
    tested = page.partition("## Tested engines")[2].partition("\n\nNo engine")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", tested, re.MULTILINE)) == {*DIALECT_NAMES}, (
        "docs/engines.md has a line for each dialect"
    )
    assert {alias for dialect in DIALECTS.values() for alias in dialect.aliases} <= {
        *re.findall(r"`(\w+)`", page)
    }
    number = {13: "thirteen"}[len(DIALECT_NAMES)]
    assert f"Statements in {number} SQL dialects" in (ROOT / "README.md").read_text("utf-8")


def test_functions_are_found_in_the_text_of_dialects():
    assert (
        tuple(name for name, dialect in DIALECTS.items() if dialect.functions is not None)
        == FUNCTION_DIALECTS
    )
    operations = {
        name: set(dialect.functions.list_operations)
        for name, dialect in DIALECTS.items()
        if dialect.functions
    }
    assert {
        name for name, there in operations.items() if there and there != LIST_OPERATIONS
    } == set(), "operations are missing"


def test_each_name_of_a_dialect_means_one():
    names = [name for known, dialect in DIALECTS.items() for name in (known, *dialect.aliases)]
    assert len(names) == len(set(names))
    assert all(
        normalize_dialect(name.upper()) == known
        for known, dialect in DIALECTS.items()
        for name in (known, *dialect.aliases)
    )
    packages = [package for dialect in DIALECTS.values() for package in dialect.drivers]
    assert len(packages) == len(set(packages))


def test_errors_of_duckdb_are_caught_where_its_connections_are():
    catching = {
        get_package(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for path in PACKAGE.rglob("*.py")
        for node in list_nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and node.type is not None
        and "duckdb." in ast.unparse(node.type)
    }
    assert catching <= {"engines", "learn", "rollups"}, "a session raises ExecutionError"


WRITER = PACKAGE / "output" / "output_file.py"
WRITING = {
    "write_text", "write_bytes", "write_table", "write_csv", "write_feather", "write_dataset",
    "ParquetWriter", "FileOutputStream",
}  # fmt: skip
WRITING |= {"OSFile", "copyfile", "copy2", "mkstemp", "NamedTemporaryFile", "touch", "Copy"}
MODE = re.compile(r"[rbtU]*[wax+][bt+]*")


def find_writes(code: str) -> list[int]:
    """Return the lines of code that write a file, except to ``os.devnull``."""
    calls = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and "os.devnull" not in ast.unparse(node)
    ]
    return [node.lineno for node in calls if is_write(node)]


def is_write(call: ast.Call) -> bool:
    name = (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )
    if name not in {"open", "fdopen", "ZipFile", "PythonFile"}:
        return name in WRITING
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    modes = [
        value.value
        for value in values
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    ]
    return any(MODE.fullmatch(mode) for mode in modes) or any(
        flag in ast.unparse(call) for flag in ("O_WRONLY", "O_RDWR", "O_CREAT")
    )


def test_one_module_writes_files():
    """It refuses inputs and foreign files, and replaces files as a whole."""
    found = {
        str(path.relative_to(ROOT)): find_writes(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != WRITER
    }
    assert {path: lines for path, lines in found.items() if lines} == {}, (
        "write through sqlrank.output.output_file.OutputFile"
    )
    statements = [
        path
        for path in (ROOT / "sql").rglob("*.sql")
        if re.search(r"^\s*(COPY|EXPORT)\b", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert statements == []
    assert find_writes(WRITER.read_text("utf-8"))


def test_what_writes_files_is_recognized():
    lines = [
        "p.write_text('x')", "open(p, 'w')", "p.open('ab')", "open(p, mode='r+b')",
        "os.open(p, os.O_WRONLY)", "pq.write_table(t, p)",
    ]  # fmt: skip
    lines += [
        "ZipFile(p, 'x')", "exp.Copy(this=t)", "open(os.devnull, 'w')", "open(p)",
        "p.open('rb')", "ZipFile(p)", "p.read_text('utf-8')",
    ]  # fmt: skip
    assert find_writes("\n".join(lines)) == [1, 2, 3, 4, 5, 6, 7, 8]


UNORDERED = {
    "take_first",
    *("_check_system", "_has_rows", "_check_not_empty", "_check_no_objects", "_has_text"),
    *("_have_common_value", "share_classes", "_has_several", "check_overlap", "_equal_hash_query"),
    *("check_queries_present", "_has_shared_queries", "_has_bits"),
    *("check_dates", "_select_values", "_write_list_query", "_list_texts"),
    *("describe_tied_ranks", "sample_distinct_counts", "_has_few_rows"),
    *("step_preview", "_fetch_records", "_count_constant_groups"),
}
"""Functions that may limit rows: the one that orders them; those that look for a row, and show none
of its values; those that read a sample; those that have an order of their own, or all rows.
"""


def test_rows_that_are_shown_are_in_an_order():
    """Without one, they would follow the number of threads."""
    limiting = {
        function.name
        for path in PACKAGE.rglob("*.py")
        for function in list_nodes(path)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "limit"
        and ast.unparse(node.args[0]) != "0"
    }
    assert limiting == UNORDERED
    for path in (ROOT / "sql" / "inputs").rglob("*.sql"):
        for query in sqlglot.parse_one(path.read_text("utf-8"), read="duckdb").find_all(exp.Select):
            is_header = path.stem == "csv_header"  # a first row, by the order of the file
            assert is_header or not query.args.get("limit") or query.args.get("order"), path.name
