"""Hooks that MkDocs calls while it builds the site: they add pages, and redirect links to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.structure.files import File
from pygments.lexers.shell import BashSessionLexer  # type: ignore[import-untyped]

import sqlrank
from sqlrank.options import load_commands
from website import (
    command_line,
    command_outputs,
    examples,
    gallery,
    keywords,
    linked_pages,
    metric_index,
    metric_page,
    npm_packages,
    relations,
    sections,
    try_page,
)
from website.docstrings import BASES, format_docstring
from website.page_templates import render_template

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from sqlrank.registry.sql_file import SqlFile

SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
TRY_LINK = (
    f"[Try it in your browser]({try_page.PLACE}){{ .md-button .md-button--primary }}"
    " [Demo report](demo.md){ .md-button } "
)
"""Links of the home page to pages that the repository does not have."""
CARDS = """
<div class="grid cards" markdown>

- **[Search and RAG](start/search.md)**

    Ranked results and judgments: nDCG, MRR, recall. [From rows of questions](start/rag.md).

- **[Recommenders](start/recommenders.md)**

    Items shown and bought: hit rate, coverage, diversity, popularity.

- **[Ads and click models](start/ads.md)**

    Predicted probabilities: AUC, log loss, calibration by campaign.

- **[A/B tests](experiments.md)**

    Lifts with intervals, CUPED, ratios, and tests at every look.

- **[Warehouses](start/warehouses.md) and [dbt](start/dbt.md)**

    One statement for BigQuery, Snowflake, Spark and more.

- **[CI gates](gates.md)**

    Stop a change that makes results worse, by more than chance.

- **[Entity resolution](start/entity-resolution.md)**

    Records that were linked or clustered: precision and recall of links.

- **[Tutorial](tutorial.md)**

    No data yet, and 20 minutes: evaluate, compare and gate a retriever.

</div>
"""
"""Use cases on the home page."""
TASKS = re.compile(
    r"## Find your task\n.*?(?=^## )|^To try it in your browser.*?\n\n"
    r"| \u00b7 \[(?:Find your task|Try it in your browser)\]\(#[\w-]+\)",
    re.MULTILINE | re.DOTALL,
)
"""Tasks and ways to the site in the README, in whose place the home page has cards and a button."""
OPTION = re.compile(r"<code>(--?[a-z][\w-]*)")
"""An option in the text, which browsers would break after its hyphens."""
INTERVAL = "<tr>\n<td>Interval</td>"
"""The row of a metric's facts that would make every page of a metric a hit for "confidence
interval".
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write the version below each page, and add the script that runs SQL in pages if its engine
    could be fetched.
    """
    config.copyright = f"sqlrank {sqlrank.__version__}"
    # Prompts are a dollar: a comment of LaTeX in an output would be copied as a command.
    BashSessionLexer._ps1rgx = re.compile(r"^(\$ )(.*\n?)")  # noqa: SLF001
    if npm_packages.engine_files():
        script = ExtraScriptValue("assets/run.mjs")
        script.type = "module"
        config.extra_javascript.append(script)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made: those from outside docs, of metrics, of their sections, and of
    the public functions.
    """
    for place, text in build_pages().items():
        files.append(File.generated(config, place, content=text))
    for path in sorted((examples.ROOT / examples.TABLES).glob("*.csv")):
        files.append(File.generated(config, f"tables/{path.name}", abs_src_path=str(path)))
    for place, path in {
        **gallery.drawn_files(),
        **try_page.list_files(),
        **npm_packages.engine_files(),
    }.items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    _add_to_nav(config.nav or [])
    return files


def build_pages() -> dict[str, str]:
    """Return the text of every page that is made, by its place."""
    pages = {place: linked_pages.read_markdown(path) for path, place in linked_pages.PAGES.items()}
    text = pages["index.md"].replace("\n[Tutorial](", f"\n{TRY_LINK}[Tutorial](", 1)
    text = text.replace("\n[![", f"\n{CARDS}\n[![", 1)
    text = TASKS.sub("", text)
    pages["index.md"] = f"---\nhide: [navigation]\n---\n\n{text}"
    pages["changelog.md"] = f"---\nsearch: {{ exclude: true }}\n---\n\n{pages['changelog.md']}"
    pages |= {
        place: linked_pages.build_file_page(path)
        for path, place in linked_pages.list_linked_files().items()
    }
    pages |= {
        "sql/compat.md": linked_pages.build_compat_page(),
        relations.PAGE: relations.build_relations_page(),
        "cli/index.md": command_line.build_command_index(),
    }
    pages |= {
        "gallery.md": gallery.gallery_page(),
        "demo.md": gallery.demo_page(),
        try_page.PLACE: try_page.build_try_page(),
    }
    pages |= {"api/index.md": index_of_api()} | {
        f"api/{name}.md": page_of_api(name) for name in public_names()
    }
    pages |= {
        command_line.locate_command_page(name): command_line.build_command_page(name)
        for name in command_line.load_commands()
    }
    pages |= {
        f"metrics/{name}/index.md": sections.build_section_page(name)
        for name in sections.group_by_section()
    }
    files = [file for members in sections.group_by_section().values() for file in members]
    command_outputs.cache_outputs(
        (file, arguments) for file in files for arguments in examples.list_commands(file)
    )
    return pages | {sections.locate_metric_page(file): _with_head(file) for file in files}


def _with_head(file: SqlFile) -> str:
    return (
        "---\ndescription: >-\n "
        f" {metric_page.describe_metric(file)}\n---\n\n{metric_page.build_metric_page(file)}"
    )


def public_names() -> list[str]:
    """Return the public functions, those of commands in their order first, then the classes."""
    names = [name for name in sqlrank.__all__ if not name.startswith("_")]
    order = [*load_commands(), *sorted(name for name in names if name.islower())]
    return sorted(names, key=lambda name: order.index(name) if name.islower() else len(order))


def index_of_api() -> str:
    """Return the page of all public functions, in the groups of commands, and classes, each in a
    line.
    """
    titles = {name: _find_group(name) for name in public_names()}
    order = [*dict.fromkeys(command.group for command in load_commands().values()), "Classes"]
    sections = {
        title: {
            name: _first_sentence(getattr(sqlrank, name))
            for name, group in titles.items()
            if group == title
        }
        for title in order
    }
    return render_template("api_index.md", sections=sections)


def _find_group(name: str) -> str:
    """Return the group of the command that a function has, or its base."""
    if not name.islower():
        return "Classes"
    base = {"assert_not_worse": "gate", **BASES}.get(name, "evaluate")
    commands = load_commands()
    return commands[name if name in commands else base].group


def page_of_api(name: str) -> str:
    """Return the page of a public function or class, which MkDocs fills in from its docstring."""
    # The parameters of a function have their types and defaults below.
    options = f"options: {{ show_signature: {str(not name.islower()).lower()} }}"
    return f"# sqlrank.{name}\n\n::: sqlrank.{name}\n    {options}\n"


def _first_sentence(item: object) -> str:
    return (
        format_docstring(" ".join((item.__doc__ or "").partition("\n\n")[0].split()))
        .replace("``", "`")
        .replace("|", "\\|")
    )


def _add_to_nav(nav: list[Any]) -> None:
    """Add the pages of metrics, by section of metrics.md, to what begins with that page, and those
    of commands and functions to theirs.
    """
    reference = next(item["Reference"] for item in nav if "Reference" in item)
    pages = next(item["Command line"] for item in reference if "Command line" in item)
    pages += [
        {f"sqlrank {name}": command_line.locate_command_page(name)}
        for name in command_line.load_commands()
    ]
    pages = next(item["Python"] for item in reference if "Python" in item)
    pages += [{name: f"api/{name}.md"} for name in public_names()]
    section = next(item["Metrics"] for item in nav if "Metrics" in item)
    for name, files in sections.group_by_section().items():
        entries = [
            {sections.format_menu_name(file): sections.locate_metric_page(file)} for file in files
        ]
        section.append({sections.find_section_title(name): [f"metrics/{name}/index.md", *entries]})


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to pages of the site, and names in the tables of metrics.md to pages of metrics;
    short pages get the width for their code.

    The search compares the tags of a page with a query first, and multiplies by its boost. Sessions
    of Python have prompts, which the copy button leaves out.
    """
    if not re.search("^## ", markdown, re.MULTILINE):
        page.meta["hide"] = ["toc"]
    place = page.file.src_uri
    phrases = keywords.read_keywords().get(place, [])
    page.meta["tags"] = list(dict.fromkeys([*phrases, *map(keywords.join_phrase, phrases)]))
    page.meta["search"] = {
        "boost": keywords.find_boost(place, is_written=page.file.generated_by is None)
    } | page.meta.get("search", {})
    if place == "charts.md":
        markdown = gallery.add_pictures(markdown)
    text = SESSION.sub("```pycon\n", linked_pages.with_links(markdown, place))
    text = text.replace("<BLANKLINE>\n", "\n")  # a mark of doctest
    if place == "engines.md" and linked_pages.ENGINES_TABLE.is_file():
        text = text.replace("<!-- matrix -->", linked_pages.ENGINES_TABLE.read_text("utf-8"))
    return metric_index.extend_tables(text) if place == metric_index.PLACE else text


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Keep options on one line, and leave rows that are the same on all pages of metrics out of the
    search.
    """
    html = OPTION.sub(r'<code><span class="option">\1</span>', html)
    return (
        html.replace(INTERVAL, INTERVAL.replace("<tr>", "<tr data-search-exclude>"), 1)
        if page.file.generated_by
        else html
    )
