"""The pages of the site with the gallery of charts and the demo report."""

import re
import shlex
from html import unescape

import pytest

from tests.interface.command_line import run_command
from website import gallery


def test_the_gallery_has_every_kind_of_chart_with_its_command():
    kinds = pytest.importorskip(
        "sqlrank.charts.chart_kinds", reason="charts need altair"
    ).CHART_KINDS
    entries = {entry.kind: entry for entry in gallery.list_gallery_entries()}
    assert entries.keys() == kinds.keys()
    page = gallery.gallery_page()
    for kind, entry in entries.items():
        assert f"gallery/{kind}.svg" in page
        assert re.search(
            rf"^sqlrank chart .* -o {kind}\.svg$", entry.commands.replace("\\\n", ""), re.MULTILINE
        )
    assert entries["forest"].commands.startswith("sqlrank compare ")
    assert "sqlrank compare" not in entries["roc"].commands
    assert gallery.report_commands().keys() == gallery.REPORTS.keys()
    assert all(f"(demo/{name}.html)" in page for name in gallery.REPORTS)


@pytest.mark.slow
def test_thumbnails_and_the_demo_report_are_drawn_and_callouts_lead_to_its_parts(monkeypatch):
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    files = gallery.drawn_files()
    reports = {f"demo/{name}.html" for name in gallery.REPORTS}
    assert files.keys() == {entry.place for entry in gallery.list_gallery_entries()} | reports
    assert all("<svg " in path.read_text("utf-8") for path in files.values())
    assert all(files[place].stat().st_size < 2_000_000 for place in reports)
    for entry in gallery.list_gallery_entries():
        for picture in (gallery.ROOT / "docs" / "assets").rglob(entry.file_name):
            texts, texts_drawn = (
                re.findall("(?:<text[^>]*|<title|<tspan[^>]*)>([^<]+)<", path.read_text("utf-8"))
                for path in (picture, files[entry.place])
            )
            assert texts == texts_drawn, f"draw {picture} by its commands in docs/charts.md"
    report = files[gallery.REPORT].read_text("utf-8")
    targets = re.findall(rf"\]\({gallery.REPORT}#([\w-]+)\)", gallery.demo_page())
    assert len(targets) == len(gallery.CALLOUTS) == 9
    assert [target for target in targets if f'id="{target}"' not in report] == []
    assert "candidate beats baseline on 3 of 3 metrics" in report
    # Commands of the page work: from a group to its queries, and from a query to its explanation.
    monkeypatch.chdir(gallery.ROOT)
    commands = [unescape(text) for text in re.findall('data-text="([^"]*)"', report)]
    of_group, of_query = (
        next(text for text in commands if text.startswith(f"sqlrank {name} "))
        for name in ("evaluate", "explain")
    )
    assert (
        "--per-query --input answers=examples/data/rag/baseline.jsonl"
        " --where \"intent = 'reference'\"" in of_group
    )
    assert run_command(*shlex.split(of_group)[1:]).startswith(
        "query_id  nDCG@5\nq04       0.2021\n"
    )
    assert "chunk-" in run_command(*shlex.split(of_query)[1:])
