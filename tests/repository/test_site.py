"""The documentation site builds without a warning, has a page for every metric, and loads nothing
from a network.
"""

import inspect
import json
import posixpath
import re
from html import unescape
from pathlib import Path

import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_info import format_example_name
from website import (
    command_line,
    command_outputs,
    examples,
    linked_pages,
    metric_index,
    metric_page,
    policy_tables,
    relations,
    sections,
)

ROOT = Path(__file__).parents[2]
FILES = [file for of in sections.group_by_section().values() for file in of]
LOADED = re.compile(
    r"<(?:script|img|iframe|source|link|object|embed)\b[^>]*?\b(?:src|href|data)=\"?((?:https?:)?//[^\s\">]+)"
)
STYLED = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"']?)((?:https?:)?//[^\s\"')]+)")


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_every_metric_has_a_page_which_search_finds(site):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    found = {entry["location"]: entry["title"] for entry in index}
    names = sqlrank.metrics()["name"].to_pylist()
    assert len(FILES) == len(names)
    assert sorted(map(format_example_name, FILES)) == sorted(names)
    for file in FILES:
        place = sections.locate_metric_page(file).replace(".md", ".html")
        assert found[place] == metric_page.format_title(file)
        text = (site / place).read_text("utf-8")
        counts = file.is_always_defined
        for heading in (
            "When to use it",
            "Undefined values and checks",
            "Example",
            "SQL file",
            "SQL statement",
        ):
            assert f">{heading}<" in text
        assert (">How to read a value<" in text) == (file.kind == "metrics" and not counts)
        assert ("<math " in text) == ("\n    " in file.doc)
        assert file.params.keys() | file.declared_settings.keys() <= set(
            re.findall(r"<code>(\w+)", text)
        )


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_every_public_name_has_a_page(site):
    for name in set(sqlrank.__all__) - {"__version__"}:
        text = (site / "api" / f"{name}.html").read_text("utf-8")
        assert f'id="sqlrank.{name}"' in text
        assert ":func:" not in text
        assert ":class:" not in text


@pytest.mark.parametrize(
    "name", [name for name in sqlrank.__all__ if name.islower() and not name.startswith("_")]
)
def test_every_public_function_describes_its_arguments_result_errors_and_an_example(name):
    docstrings = pytest.importorskip("website.docstrings", reason="needs mkdocstrings")
    text = docstrings.complete_docstring(name)
    parameters = [
        argument.name for argument in inspect.signature(getattr(sqlrank, name)).parameters.values()
    ]
    described = re.findall(
        r"^ {4}\*{0,2}(\w+): \S", docstrings.ARGUMENTS.search(text)["items"], re.MULTILINE
    )
    assert sorted(described) == sorted(parameters)
    page = docstrings.format_docstring(text, name)
    grouped = re.split("^R(?:eturns|aises):", page[page.find("Args: ") :], flags=re.MULTILINE)[0]
    assert sorted(re.findall(r"^ {4}\*{0,2}(\w+): \S", grouped, re.MULTILINE)) == sorted(parameters)
    assert f"sqlrank.{name}({parameters[0]}" in page[page.find("Examples:") : page.find("Args: ")]
    assert (len(re.findall("^Args: ", page, re.MULTILINE)) > 1) is (len(parameters) > 8)
    is_silent = inspect.signature(getattr(sqlrank, name)).return_annotation == "None"
    for section in (*(() if is_silent else ("Returns:\n    ",)), "Raises:\n    ", "\n>>> "):
        assert section in text


def test_every_command_has_a_page_with_its_options():
    names = list(command_line.load_commands())
    assert {"evaluate", "sql", "compare", "gate"} <= set(names)
    for name in names:
        assert f"| [`sqlrank {name}`]({name}.md) |" in command_line.build_command_index()
        text = command_line.build_command_page(name)
        flags = [
            flag
            for param in command_line.load_commands()[name].params
            for flag in param.opts
            if flag.startswith("--") and flag != "--help"
        ]
        assert [flag for flag in flags if f"`{flag}`" not in text] == []
    page = command_line.build_command_page("gate")
    assert re.search(r"^\| `--min-units`.* Default: `20`\. \|$", page, re.MULTILINE)
    assert re.search(r"^\| `--policy`.*\[More\]\(\.\./policies\.md\)\. \|$", page, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_no_page_loads_anything_from_a_network(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(FILES)
    assert {
        path.name: LOADED.findall(path.read_text("utf-8"))
        for path in pages
        if LOADED.search(path.read_text("utf-8"))
    } == {}
    styles = list(site.rglob("*.css"))
    assert {
        path.name: STYLED.findall(path.read_text("utf-8"))
        for path in styles
        if STYLED.search(path.read_text("utf-8"))
    } == {}


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_blocks_of_metric_pages_are_as_wide_as_a_terminal(site):
    """SQL is wrapped by the page."""
    blocks = [
        (path.name, line)
        for path in (site / "metrics").rglob("*.html")
        for kind, code in re.findall(
            r'<div class="([^"]*\bhighlight)"><pre>(.*?)</pre>', path.read_text("utf-8"), re.DOTALL
        )
        if "wrapped" not in kind
        for line in unescape(re.sub("<[^>]*>", "", code)).splitlines()
    ]
    assert len(blocks) > 5_000
    assert [(name, line) for name, line in blocks if len(line) > command_outputs.WIDTH] == []


def test_what_loads_from_a_network_is_seen():
    assert LOADED.findall(
        '<script src="https://x.org/a.js"></script><link rel=stylesheet href=//y.org/b.css>'
    ) == ["https://x.org/a.js", "//y.org/b.css"]
    assert STYLED.findall("a{src:url('https://x.org/f.woff2')}@import \"//y.org/b.css\"") == [
        "https://x.org/f.woff2",
        "//y.org/b.css",
    ]
    assert LOADED.findall('<a href="https://x.org">x</a>') == []


def test_links_to_files_lead_to_pages_of_the_site():
    text = (
        "[a](../sql/README.md#the-contract) [b](../sql/settings/names.toml) `[c](../sql/README.md)`"
        " [d](inputs.md) [e](https://x.org) [f](#here)"
    )
    assert (
        linked_pages.with_links(text, "policies.md")
        == "[a](sql/index.md#the-contract) [b](files/sql/settings/names.toml.md) `[c](../sql/README.md)`"
        " [d](inputs.md) [e](https://x.org) [f](#here)"
    )
    assert (
        linked_pages.with_links("[a](../../examples/gate)", "start/rag.md")
        == "[a](../examples/gate.md)"
    )
    assert linked_pages.with_links("[a](docs/inputs.md)", "index.md") == "[a](inputs.md)"


def test_every_link_of_a_page_leads_to_a_page_or_file_of_the_site():
    docs = ROOT / "docs"
    sources = {
        **{page: path for path, page in linked_pages.PAGES.items()},
        **{
            path.relative_to(docs).as_posix(): f"docs/{path.relative_to(docs)}"
            for path in docs.rglob("*.md")
        },
    }
    made = (
        {sections.locate_metric_page(file) for file in FILES}
        | {f"metrics/{name}/index.md" for name in sections.group_by_section()}
        | {"api/index.md", "sql/compat.md", "cli/index.md", relations.PAGE}
        | {command_line.locate_command_page(name) for name in command_line.load_commands()}
    )
    files = {path.relative_to(docs).as_posix() for path in docs.rglob("*") if path.is_file()}
    held = {
        *sources,
        *made,
        *files,
        *linked_pages.list_linked_files().values(),
        *(f"tables/{path.name}" for path in (ROOT / examples.TABLES).glob("*.csv")),
    }
    dead = [
        f"{path}: {target}"
        for page, path in sources.items()
        for target in find_dead_links(linked_pages.read_markdown(path), page, held)
    ]
    assert dead == []
    assert (
        sum(
            len(linked_pages.find_links(linked_pages.read_markdown(path)))
            for path in sources.values()
        )
        > 90
    )


def find_dead_links(markdown: str, page: str, held: set[str]) -> list[str]:
    """Return the links of a page that lead to nothing that the site holds."""
    targets = [
        target for target, _ in linked_pages.find_links(linked_pages.with_links(markdown, page))
    ]
    return [
        target
        for target in targets
        if posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) not in held
    ]


def test_a_dead_link_is_found():
    held = {"inputs.md", "start/ads.md", "files/sql/settings/names.toml.md"}
    text = (
        "[a](../../sql/settings/names.toml) [b](ads.md#x) [c](nothing.md) [d](../inputs.md) [e](inputs.md)"
        " [f](../../sqlrank) [g](https://x.org)"
    )
    assert find_dead_links(text, "start/search.md", held) == [
        "nothing.md",
        "inputs.md",
        "../../sqlrank",
    ]


def test_docstrings_are_written_for_the_site():
    docstrings = pytest.importorskip("website.docstrings", reason="needs mkdocstrings")
    text = (
        "See :func:`sqlrank.evaluate`, :class:`sqlrank.output.dbt.DbtModel` and"
        " :func:`sqlrank.charts.export.save_chart`.\n\n>>> 1 + 1\n2\n\n>>> 3\n3"
    )
    assert (
        docstrings.format_docstring(text) == "See [`sqlrank.evaluate`][sqlrank.evaluate],"
        " [`sqlrank.output.dbt.DbtModel`][sqlrank.DbtModel] and"
        " `sqlrank.charts.export.save_chart`.\n\nExamples:\n    >>> 1 + 1\n    2\n\n    >>> 3\n"
        "    3"
    )


def test_arguments_of_the_site_lead_to_their_guides():
    docstrings = pytest.importorskip("website.docstrings", reason="needs mkdocstrings")
    text = docstrings.format_docstring(docstrings.complete_docstring("evaluate"), "evaluate")
    arguments = {item["name"]: item[0].rstrip() for item in docstrings.ARGUMENT.finditer(text)}
    assert arguments["**policies"].endswith(" [More](../policies.md).")
    assert arguments["plan"].endswith(" [More](../plans.md).")
    assert "[More]" not in arguments["timeout"]


def test_one_example_of_the_site_is_not_called_examples():
    docstrings = pytest.importorskip("website.docstrings", reason="needs mkdocstrings")
    text = "Add numbers.\n\n>>> one = 1\n>>> one + 1\n2"
    assert "\nExamples: Example:\n    >>> one" in docstrings.format_docstring(text)


@pytest.mark.slow
def test_a_command_of_a_page_that_fails_fails_the_page():
    with pytest.raises(RuntimeError, match=r"sqlrank metrics nDGC: .*nDGC"):
        command_outputs.run_command(["metrics", "nDGC"])


def test_an_example_asks_for_what_its_metric_reads():
    tables = {path.stem for path in (ROOT / examples.TABLES).glob("*.csv")}
    assert {
        examples.choose_table(role, file) for file in FILES for role in examples.list_roles(file)
    } - tables == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in sections.group_by_section() if name != "clusters"]
)
def test_the_first_example_of_each_section_runs(name):
    file = sections.group_by_section()[name][0]
    shown = command_outputs.run_command(examples.build_explain_command(file))
    assert (
        "mean_observed" if name == "curves" else examples.format_metric(file).partition("@")[0]
    ) in shown
    file = next(file for file in FILES if file.full_name == "Miscalibration")
    assert examples.build_explain_command(file) == [
        *("explain", "Miscalibration@3", "--query", "q1", "--run", "examples/data/small/run.csv"),
        *(
            "--input",
            "history=examples/data/small/history.csv",
            "--input",
            "features=examples/data/small/features.csv",
        ),
    ]
    assert examples.format_command(["explain", "a b"]) == "sqlrank explain 'a b'"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ECE", {"bins": "10", "if_undefined": "zero", "level": "group", "nulls": "error"}),
        (
            "Accuracy",
            {"if_undefined": "zero", "level": "group", "nulls": "error", "threshold": "0.5"},
        ),
        ("num_won_by_a", {"nulls": "error"}),
    ],
)
def test_a_page_explains_the_policies_of_the_relations_that_a_metric_reads(name, expected):
    file = next(file for file in FILES if file.full_name == name)
    shown = re.findall(
        r"^ *\| \[`(\w+)`\]\(../../policies.md(?:#\1)?\) \| (\S+) \| [A-Z].{5,} \|$",
        metric_page.build_metric_page(file),
        re.MULTILINE,
    )
    assert dict(shown) == expected
    told = set(re.findall(r"\w+", (ROOT / "docs" / "policies.md").read_text("utf-8")))
    assert expected.keys() <= told


def test_the_page_of_policies_has_a_row_for_each_value():
    """If this fails, run ``python -m website.policy_tables``."""
    text = policy_tables.PAGE.read_text("utf-8")
    assert policy_tables.format_page(text) == text
    names = set(re.findall(r"^### (\w+)$", text, re.MULTILINE))
    assert names >= load_registry().policies.keys()
    assert "| `zero` (default) |" in policy_tables.build_table("if_undefined")
    assert "(default)" not in policy_tables.build_table("denominator")


def test_the_tables_of_metrics_have_the_descriptions_of_the_files():
    rows = re.findall(
        r"^\| `([\w@().]+)` \| (.+) \|$",
        (ROOT / "docs" / "metrics.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert len(rows) > 200
    assert set(rows) == {(format_example_name(file), file.description) for file in FILES}


def test_metrics_to_start_with_lead_to_their_pages():
    page = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    begin, _, tables = metric_index.extend_tables(page).partition("\n## ")
    linked = re.findall(r"\[`([\w@]+)`\]\(metrics/\w+/\w+\.md\)", begin)
    assert len(linked) > 30
    assert re.findall(r"(?<!\[)`(\w+(?:@\d+)?)`", begin) == []
    starred = re.findall(r"^\| \[`([\w@()]+)`\][^|]*\u2605", tables, re.MULTILINE)
    assert len(starred) == len(set(map(sections.resolve_alias, linked)))


@pytest.mark.parametrize(
    ("name", "common_name", "menu"),
    [
        ("r", "Recall@k", "Recall@k (R)"),
        ("rr", "MRR", "MRR (RR)"),
        ("ap", "MAP", "MAP (AP)"),
        ("success", "HitRate@k", "HitRate@k (Success)"),
        ("p", "Precision@k", "Precision@k (P)"),
    ],
)
def test_names_that_users_write_come_before_those_of_files(name, common_name, menu):
    file = load_registry().metrics[name]
    tables = metric_index.extend_tables((ROOT / "docs" / "metrics.md").read_text("utf-8"))
    place = sections.locate_metric_page(file)
    assert f"\n| [`{common_name}`]({place}) `{file.full_name}` \u2605" in tables
    row = f"\n| [`{common_name}`]({file.name}.md) `{file.full_name}` |"
    assert row in sections.build_section_page(sections.find_section(file))
    assert sections.format_menu_name(file) == menu


def test_examples_of_commands_fit_the_width_of_pages():
    pages = [command_line.build_command_page(name) for name in command_line.load_commands()]
    blocks = [block for page in pages for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)]
    assert len(blocks) > 40
    lines = [line for block in blocks for line in block.splitlines()]
    assert [line for line in lines if len(line) > command_outputs.WIDTH] == []
    assert any(line.endswith(" \\") for line in lines)


def test_every_metric_says_when_to_use_it():
    usages = {file.full_name: sections.find_usage(file) for file in FILES}
    assert {
        name: text
        for name, text in usages.items()
        if not re.match(r"Use it (when|before|to) .{15,}\.$", text)
    } == {}
    assert len(set(usages.values())) > 200
    assert [name for name, text in usages.items() if ";" in text or ".." in text] == []


def test_the_tree_has_every_relation_once():
    tree = re.findall(r"^ *(\w+): ", relations.build_tree(), re.MULTILINE)
    library = load_registry()
    assert sorted(set(tree) - library.roles.keys()) == sorted(
        library.relation_names - library.roles.keys()
    )
    assert len(tree) == len(set(tree))
