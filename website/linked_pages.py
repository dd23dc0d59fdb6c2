"""Pages outside of docs, and links to them: on the code host a link leads to a file, on the site to
the page made of it.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from website.page_templates import render_template

ROOT = Path(__file__).parents[1]

ENGINES_TABLE = ROOT / ".cache" / "engines.md"
"""The table of metrics and engines, which ``make engines`` makes."""

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "sql/README.md": "sql/index.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/gate/README.md": "examples/gate.md",
    "examples/rollup/README.md": "examples/rollup.md",
    "examples/data/small/README.md": "examples/small.md",
    "examples/data/rag/README.md": "examples/rag.md",
    "examples/data/python_faq/README.md": "examples/python_faq.md",
    "examples/data/judge/README.md": "examples/judge.md",
    "examples/data/trec_eval/README.md": "examples/trec_eval.md",
    "examples/data/open_bandit/README.md": "examples/open_bandit.md",
    "examples/data/incentives/README.md": "examples/incentives.md",
}
"""Pages of the site by the file that they are made of."""

PAGES_BY_FOLDER = {
    "sql/metrics": "metrics.md",
    "sql/settings/compat": "sql/compat.md",
    "sql/relations": "sql/relations.md",
}
"""Pages that list the contents of a folder without a README."""

_CODE_OR_LINK = re.compile(
    r"^```.*?^```$|`[^`\n]+`|(?<=\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))",
    re.DOTALL | re.MULTILINE,
)


def find_links(markdown: str) -> list[tuple[str, str]]:
    """Return the targets of the relative links of a text that are not in code, each with its
    anchor, which may be empty.

    >>> find_links("[a](b.md#c) `[d](e.md)` [f](https://g.org) [h](#i)")
    [('b.md', '#c')]
    """
    return [
        (match["target"], match["anchor"] or "")
        for match in _CODE_OR_LINK.finditer(markdown)
        if match["target"]
    ]


def find_origin(page: str) -> str:
    """Return the file of the repository that a page of the site is made of."""
    return next((path for path, place in PAGES.items() if place == page), f"docs/{page}")


def read_markdown(path: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text("utf-8")


@cache
def list_linked_files() -> dict[str, str]:
    """Return the pages of files that are no pages, but linked to from one, by their path in the
    repository.
    """
    docs = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    pages = {}
    for source in [*PAGES, *docs]:
        for target, _ in find_links(read_markdown(source)):
            path = _join_path(source, target)
            if (
                not _find_site_page(path)
                and (ROOT / path).is_file()
                and not path.startswith("docs/")
            ):
                pages[path] = f"files/{path}.md"
    return pages


def build_file_page(path: str) -> str:
    """Return a page that shows a file."""
    kind = {"toml": "toml", "sql": "sql", "py": "python", "yml": "yaml"}.get(
        path.rpartition(".")[2], "text"
    )
    return f"# {path}\n\n````{kind}\n{read_markdown(path).rstrip()}\n````\n"


def build_compat_page() -> str:
    """Return the page of the compatibility modes: each with its file, whose comment says what the
    tool does.
    """
    paths = sorted((ROOT / "sql" / "settings" / "compat").glob("*.toml"))
    return render_template("compat_page.md", paths=paths)


def with_links(markdown: str, page: str) -> str:
    """Return the text of a page with links to files outside docs led to pages of the site."""
    source = find_origin(page)

    def rewrite_link(match: re.Match[str]) -> str:
        target = match["target"]
        place = (
            _find_site_page(_join_path(source, target))
            or list_linked_files().get(_join_path(source, target))
            if target
            else None
        )
        return (
            posixpath.relpath(place, posixpath.dirname(page) or ".") + (match["anchor"] or "")
            if place
            else match[0]
        )

    return _CODE_OR_LINK.sub(rewrite_link, markdown)


def _join_path(source: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))


def _find_site_page(path: str) -> str | None:
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return PAGES.get(path) or PAGES.get(f"{path}/README.md") or PAGES_BY_FOLDER.get(path)
