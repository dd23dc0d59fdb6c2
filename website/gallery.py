"""The gallery of charts and the demo report: pages, and the files that commands of docs draw for
them while the site is built.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from contextlib import chdir
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from website import command_outputs
from website.linked_pages import ROOT, read_markdown
from website.page_templates import render_template

DRAWN = ROOT / ".cache" / "drawn"
SOURCES = (
    "sqlrank/charts/*",
    "sqlrank/reports/*",
    "examples/data/checkout/*",
    "examples/data/open_bandit/*",
    "examples/data/rag/*",
    "examples/linkage/*",
)
"""Files that charts and reports depend on, besides those of ``command_outputs``."""

REPORT = "demo/report.html"
TEXTS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
"""Texts of gallery.toml."""

REPORTS, CALLOUTS, CHART_TITLES = TEXTS["reports"], TEXTS["callouts"], TEXTS["charts"]
OWN_CURVE = "the curve of that name"
"""Result of charts of curves in the table of docs/charts.md, which their headings name."""

_REPORT_FILE = re.compile(r" -o (\w+)\.html$")
_COMMANDS = re.compile(r"^```sh\n((?:sqlrank .*\n(?:    .*\n)*)+)```$", re.MULTILINE)
_ROW = re.compile(
    r"^\| (?P<kinds>`[^|]+) \| (?P<result>[^|]+) \| (?P<chart>[^|]+) \|$", re.MULTILINE
)


@dataclass(frozen=True)
class GalleryEntry:
    """A kind of chart with its thumbnail: the commands that draw it, and sentences on its result
    and its marks, as Markdown.
    """

    kind: str
    commands: str
    result: str
    description: str

    @property
    def file_name(self) -> str:
        """Return the name of the file that the commands write."""
        return f"{self.kind}.svg"

    @property
    def place(self) -> str:
        """Return the place of the thumbnail in the site."""
        return f"gallery/{self.file_name}"


def list_gallery_entries() -> list[GalleryEntry]:
    """Return an entry per kind of chart, in the order of the table in docs/charts.md, from the
    commands there.
    """
    page = read_markdown("docs/charts.md")
    commands_by_kind: dict[str, str] = {}
    for block in _COMMANDS.findall(page):
        commands: list[str] = []
        for command in re.split(r"\n(?=sqlrank )", block.rstrip("\n")):
            commands.append(command)
            if drawn := re.search(r" -o (\w+)\.svg$", command):
                commands_by_kind[drawn[1]] = "\n".join(commands)
                commands = []
    rows = [
        (kind, row) for row in _ROW.finditer(page) for kind in re.findall(r"`(\w+)`", row["kinds"])
    ]
    return [
        GalleryEntry(kind, commands_by_kind[kind], row["result"], row["chart"])
        for kind, row in rows
    ]


def add_pictures(page: str) -> str:
    """Return docs/charts.md with the charts of its blocks of commands that no picture follows."""

    def add_charts(block: re.Match[str]) -> str:
        kinds = re.findall(r" -o (\w+)\.svg$", block[1], re.MULTILINE)
        if not kinds or page.startswith("\n\n![", block.end()):
            return block[0]
        charts = [f"![{CHART_TITLES[kind]}.](gallery/{kind}.svg)" for kind in kinds]
        return "\n\n".join([block[0], '<div class="grid" markdown>', *charts, "</div>"])

    return _COMMANDS.sub(add_charts, page)


def gallery_page() -> str:
    """Return the page of the gallery: reports, then every kind of chart."""
    return render_template(
        "gallery_page.md",
        entries=list_gallery_entries(),
        titles=CHART_TITLES,
        own_curve=OWN_CURVE,
        reports=report_commands(),
        texts=REPORTS,
    )


def demo_page() -> str:
    """Return the page that shows the demo report, with callouts whose links lead to its parts."""
    commands = report_commands()["report"]
    return render_template("demo_page.md", report=REPORT, callouts=CALLOUTS, commands=commands)


def report_commands() -> dict[str, str]:
    """Return the commands of docs/report.md that write each report of the gallery, which read the
    examples, by file name.
    """
    blocks = [
        str(block).rstrip("\n")
        for block in _COMMANDS.findall(read_markdown("docs/report.md"))
        if "examples/" in block
    ]
    return {match[1]: block for block in blocks if (match := _REPORT_FILE.search(block))}


def drawn_files() -> dict[str, Path]:
    """Return the files of the thumbnails and of the demo report by their place in the site, drawn
    unless they are kept.
    """
    charts = {
        entry.place: _draw_chart(entry.commands, entry.file_name)
        for entry in list_gallery_entries()
    }
    charts |= {
        f"demo/{name}.html": _draw_chart(commands, f"{name}.html")
        for name, commands in report_commands().items()
    }
    for folder in set(DRAWN.iterdir()) - {path.parent for path in charts.values()}:
        rmtree(folder)
    return charts


def _draw_chart(commands: str, file_name: str) -> Path:
    """Return the kept file that commands write, which they do in a folder of their own."""
    digest = sha256(f"{command_outputs.source_digest()} {commands}".encode())
    for path in sorted(
        path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()
    ):
        digest.update(path.read_bytes())
    target = DRAWN / digest.hexdigest() / file_name
    if not target.exists():
        with TemporaryDirectory() as folder, chdir(folder):
            Path("examples").symlink_to(ROOT / "examples")
            for command in re.split(r"\n(?=sqlrank )", commands.replace("\\\n", " ").strip()):
                command_outputs.run_command(shlex.split(command)[1:], is_silent=False)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(Path(file_name).read_bytes())
    return target
