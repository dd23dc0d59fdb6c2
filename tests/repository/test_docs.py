"""The documentation is true: its commands and examples are run, its links lead somewhere, and its
tables of metrics are complete.
"""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import sqlrank
from sqlrank.cli.console import ERROR_STATUS
from sqlrank.output.result_formats import Format
from sqlrank.registry.loader import load_registry
from tests.interface.command_line import VERDICTS, print_in_terminal
from tests.lanes import select_few
from website.command_line import load_commands
from website.relations import build_relations_page

ROOT = Path(__file__).parents[2]
PATHS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PATHS}
SEARCHED = {
    **dict.fromkeys(("confidence interval", "bootstrap", "sample size"), "confidence"),
    **dict.fromkeys(("significance test", "multiple comparisons", "power", "better"), "comparison"),
    **dict.fromkeys(("ci gate", "regression test", "tolerance", "baseline", "verdict"), "gates"),
    **dict.fromkeys(("a/b test", "cuped", "sample ratio"), "experiments"),
    **dict.fromkeys(("csv", "excel", "latex", "parquet", "output format"), "results"),
    **dict.fromkeys(("roc curve", "calibration", "svg", "notebook"), "charts"),
    **dict.fromkeys(("dedupe", "record linkage"), "entity-resolution"),
    **dict.fromkeys(("novelty", "diversity", "coverage"), "beyond-accuracy"),
    **dict.fromkeys(("trec_eval", "ranx", "scikit-learn", "migrate"), "compat"),
    **dict.fromkeys(("hold-out", "leakage"), "splits"),
    **dict.fromkeys(("fairness", "fairlearn", "demographic parity"), "group-differences"),
    **dict.fromkeys(("multiclass", "confusion matrix", "kappa"), "classes"),
    "explain a score": "explain",
    "html report": "report",
    "column mapping": "inputs",
    "data frame": "sources",
    "ties": "policies",
    "rolling": "rollups",
    "drift": "drift",
    "mlflow": "mlflow",
    "pyterrier": "ir-measures",
    "install": "start",
    "tutorial": "tutorial",
    "ground truth": "start/search",
    "retriever": "start/rag",
    "click model": "start/ads",
    "recommender": "start/recommenders",
}
"""Pages by what people search for."""
BLOCK = re.compile(r"^```console\n\$ ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONSOLE = [
    (name, command.replace("\\\n", " "), shown)
    for name, page in PAGES.items()
    for command, shown in BLOCK.findall(page)
]
MAX_LINE = 96
"""Width of the blocks of pages, which code hosts and the site show without a scroll bar."""

NAMING_PAGES = {
    f"docs/{name}.md"
    for name in ("compat", "ir-measures", "metrics", "plans", "confidence", "speed")
}
"""Pages on names, plans and measurements of metrics."""

SCRIPTS = [
    found
    for page in PAGES.values()
    for found in re.findall(
        r"^```python\n(?!>>> )(.*?)^```\n\n```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE
    )
]
EXAMPLES = {name: len(re.findall(r"^ *>>> ", page, re.MULTILINE)) for name, page in PAGES.items()}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        pytest.param(
            text,
            shown,
            id=f"{name}: {text[:60]}",
            marks=() if name == "README.md" else pytest.mark.slow,
        )
        for name, text, shown in CONSOLE
    ],
)
def test_commands_print_what_is_shown(command, shown, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", str(MAX_LINE))
    monkeypatch.setenv("TERM", "dumb")
    printed = run_program(*shlex.split(command))
    first, *others = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    assert printed.startswith(first)
    position = len(first)
    for part in others:
        position = printed.find(part, position) + len(part)
        assert position >= len(part), f"is not printed, or in another place: {part}"
    assert printed.endswith(others[-1]) if others else printed == first


def run_program(program: str, *arguments: str) -> str:
    if program == "python":
        here = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            [sys.executable, *arguments], check=True, capture_output=True, text=True, env=here
        ).stdout
    assert program == "sqlrank"
    return print_in_terminal(
        list(arguments), is_error_shown=True, statuses=VERDICTS | {ERROR_STATUS}
    )


def test_commands_that_are_not_run_are_read(tmp_path, monkeypatch):
    """Their files are the reader's: the command line reads their options alone."""
    (tmp_path / "judged.sql").write_text("SELECT 1")
    monkeypatch.chdir(tmp_path)
    blocks = [
        block
        for page in PAGES.values()
        for block in re.findall(r"^ *```sh\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)
    ]
    n_commands = 0
    for text in re.findall(r"^ *sqlrank (.*(?:\n {4,}.*)*)", "\n".join(blocks), re.MULTILINE):
        name, *arguments = shlex.split(text.replace("\\\n", " "), comments=True)
        load_commands()[name].make_context(name, arguments)
        n_commands += 1
    assert n_commands >= 70


@pytest.mark.parametrize("name", PAGES)
def test_no_line_of_a_block_is_cut_or_scrolls(name):
    """Commands have an option per line, and output is that of a terminal of this width."""
    blocks = re.findall(
        r"^```(?:console|sh|sql|text|python)\n(.*?)^```$", PAGES[name], re.DOTALL | re.MULTILINE
    )
    assert [line for block in blocks for line in block.splitlines() if len(line) > MAX_LINE] == []


def test_commands_of_guides_name_metrics_as_users_do():
    """Pages that compare names or measure metrics have those of the files."""
    names = {"AP": "MAP", "RR": "MRR", "P": "Precision", "R": "Recall", "Success": "HitRate"}
    canonical = re.compile(r"(?<![\w/.=-])(AP|RR|(?:P|R|Success)(?=@))(?![\w/])")
    found = [
        f"{page}: {name}, write {names[name]}"
        for page, text in PAGES.items()
        if page not in NAMING_PAGES
        for block in re.findall(r"^```(?:console|sh)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for command in re.findall(r"^(?:\$ )?sqlrank (.*(?:\n    .*)*)", block, re.MULTILINE)
        for name in canonical.findall(command)
    ]
    assert found == []


def test_no_block_of_commands_is_passed_over():
    blocks = re.findall(r"^ *```console", "\n".join(PAGES.values()), re.MULTILINE)
    assert len(CONSOLE) == len(blocks) >= 8


def test_troubleshooting_shows_messages_that_are_produced():
    """Each is printed by its command: see above."""
    shown = [
        text.partition("sqlrank: ")[2]
        for name, _, text in CONSOLE
        if name == "docs/troubleshooting.md"
    ]
    assert len({message for message in shown if message}) >= 15


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    select_few(
        [name for name, count in EXAMPLES.items() if count], ["README.md", "docs/rollups.md"]
    ),
)
def test_examples_in_python_run(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(MAX_LINE))
    monkeypatch.setenv("TERM", "dumb")
    results = doctest.testfile(str(ROOT / name), module_relative=False)
    assert results.failed == 0
    assert results.attempted == EXAMPLES[name]


@pytest.mark.parametrize(("script", "printed"), SCRIPTS)
def test_scripts_print_the_text_below_them(script, printed, monkeypatch):
    """Scripts have no prompts, so that they can be copied from the code host, too."""
    monkeypatch.setenv("COLUMNS", str(MAX_LINE))
    pytest.importorskip("pandas", reason="the script has data frames of pandas")
    with redirect_stdout(io.StringIO()) as output:
        exec(compile(script, "script", "exec"), {})  # noqa: S102  our own
    assert output.getvalue() == printed


def test_the_readme_has_a_script():
    assert SCRIPTS[0][0] in PAGES["README.md"]


def test_ratios_of_the_readme_are_means_of_those_of_the_benchmarks():
    row = re.compile(r"^\| ([^|(]+?)(?: \([^|]*\))? \|(?:[^|\n]*\|)?([^|\n]*)\|$", re.MULTILINE)
    short, measured = (
        {
            label: [float(ratio) for ratio in re.findall(r"[\d.]+", ratios.partition("(")[0])]
            for label, ratios in row.findall(PAGES[page].partition(start)[2].partition(end)[0])
        }
        for page, start, end in (
            ("README.md", "## Speed\n", "## "),
            ("docs/speed.md", "## Ranking metrics\n", "The next table"),
        )
    )
    ratios = {label: values[0] for label, values in short.items() if values}
    assert len(ratios) == 5
    for label, ratio in ratios.items():
        mean = sum(measured[label]) / len(measured[label])
        assert ratio == pytest.approx(mean, rel=0.05), label


def test_the_readme_is_short_and_its_first_page_leads_to_every_page():
    assert len(PAGES["README.md"].splitlines()) <= 150
    of_files = (ROOT / "sql" / "README.md").read_text("utf-8")
    assert len(of_files.splitlines()) <= 100
    assert len(of_files) <= 10_000
    first_steps = {name for name in PAGES if name.startswith("docs/start/")}
    listed = {f"docs/{target}" for target in find_links(PAGES["docs/start.md"])}
    assert listed | {"docs/start.md"} >= PAGES.keys() - {"README.md"}
    assert set(find_links(PAGES["README.md"])) >= first_steps | {"docs/start.md"}
    assert len(first_steps) >= 7


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for target in find_links(PAGES[name]):
        path, _, anchor = target.partition("#")
        there = (ROOT / name).parent / path if path else ROOT / name
        assert there.exists(), f"{name} links to {target}"
        assert not anchor or anchor in find_anchors(there.read_text("utf-8")), (
            f"{name} links to {target}"
        )


def find_links(page: str) -> list[str]:
    text = re.sub(r"^```.*?^```$|`[^`\n]+`", "", page, flags=re.DOTALL | re.MULTILINE)
    return [
        target
        for target in re.findall(r"\]\(([^)\s]+)\)", text)
        if not re.match(r"[a-z]+:", target)
    ]


def find_anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them: small letters, hyphens, no
    punctuation.
    """
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    }


@pytest.mark.parametrize(("words", "name"), SEARCHED.items())
def test_pages_begin_with_the_words_that_people_search_for(words, name):
    """The search ranks by titles and headings."""
    page = PAGES[f"docs/{name}.md"].lower()
    begin = [*re.findall(r"^#+ .*$", page, re.MULTILINE), *page.split("\n\n")[:3]]
    assert [word for word in words.split() if word not in "\n".join(begin)] == []


def test_the_tables_of_metrics_are_complete():
    listed = re.findall(r"^\| `([\w@ ().]+)` \| (.+) \|$", PAGES["docs/metrics.md"], re.MULTILINE)
    there = sqlrank.metrics().select(["name", "description"]).to_pylist()
    assert sorted(listed) == sorted((row["name"], row["description"]) for row in there), (
        "docs/metrics.md has a line for each metric, with its description"
    )


def test_the_table_of_formats_is_complete():
    listed = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+)[^|]* \| `\.", PAGES["docs/results.md"], re.MULTILINE
    )
    assert sorted(re.findall(r"\w+", " ".join(listed))) == sorted(Format), (
        "docs/results.md has a line for each format"
    )


def test_the_page_on_auc_in_sql_shows_the_recipes_that_its_script_runs():
    page = " ".join(PAGES["docs/auc-in-sql.md"].split())
    for name in ("rank", "corrected"):
        text = (ROOT / "examples" / "auc_recipes" / f"{name}.sql").read_text("utf-8")
        assert " ".join(text.partition("\n")[2].split()) in page


def test_every_compatibility_mode_and_relation_is_documented():
    modes = [path.stem for path in (ROOT / "sql" / "settings" / "compat").glob("*.toml")]
    assert len(modes) == 26
    assert set(re.findall(r"\w+", PAGES["docs/compat.md"])) >= set(modes)
    glossary = build_relations_page()
    for name in load_registry().relation_names:
        assert re.search(rf"^{name}( \(.*\))?: ", glossary, re.MULTILINE)
