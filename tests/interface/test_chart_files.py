"""Charts as files, and the command that draws them."""

import json
import re
import shlex
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.charts.chart_kinds import CHART_KINDS
from sqlrank.charts.export import WRITERS_BY_SUFFIX, save_chart, svg_panels
from tests.interface.charts import CLICKS, RESULTS, evaluate_clicks
from tests.interface.command_line import TREC, run_command, run_refused_command
from tests.lanes import select_few
from tests.tables import build_table

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "<script>alert(1)</script>", "</script><!--", "a.b", "a[b]['c']", 'it\'s "so"', "\\n{{x}}",
    "שלום\u202e", "", " ", "select",
]  # fmt: skip


def count_marks(svg: str) -> Counter[str]:
    """Return the number of marks of each kind, such as bars and points, without titles and
    groups.
    """
    return Counter(re.findall(r'aria-roledescription="(?!title|subtitle|group)([a-z ]+)"', svg))


def find_texts(svg: Path) -> set[str]:
    """Return the texts of a picture, their lines after each other."""
    # Our own
    return {
        " ".join(node.itertext())
        for node in ET.fromstring(svg.read_text("utf-8")).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", select_few(CHART_KINDS, 2))
def test_every_kind_is_drawn(kind, tmp_path):
    save_chart(sqlrank.chart(RESULTS[kind]()), tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text("utf-8")
    assert picture.startswith(f"<!-- sqlrank {sqlrank.__version__} -->\n<svg ")
    assert (
        len(
            re.findall(r"<path [^>]*aria-roledescription|<g [^>]*role=\"graphics-symbol\"", picture)
        )
        > 0
    )
    assert "NaN" not in picture
    assert "undefined" not in picture


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", select_few(CHART_KINDS, 2))
def test_panels_have_the_marks_of_the_chart(kind, tmp_path):
    """Altair moves the data of a single part to the whole, from where its panel has to take
    them.
    """
    chart = sqlrank.chart(RESULTS[kind]())
    save_chart(chart, tmp_path / "a.svg")
    panels, _ = svg_panels(chart)
    missing = count_marks((tmp_path / "a.svg").read_text("utf-8")) - count_marks("".join(panels))
    assert missing == Counter(), "only the points that a pointer reveals are more"


def test_names_that_xml_has_no_place_for_are_drawn(tmp_path):
    table = build_table(label="0 1", score="0.1 0.4", x=["a\x01b\x1b\uffff", "c\td"])
    save_chart(
        sqlrank.chart(sqlrank.evaluate("Brier", predictions=table, by="x")), tmp_path / "a.svg"
    )
    assert {"a\ufffdb\ufffd\ufffd", "c\td"} <= find_texts(tmp_path / "a.svg")


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\u2028", "\u2029"])
def test_ends_of_lines_of_javascript_are_drawn_as_what_is_no_text(end, tmp_path):
    table = build_table(label="0 1", score="0.1 0.4", x=[f"a{end}b", "c"])
    drawn = sqlrank.chart(sqlrank.evaluate("Brier", predictions=table, by="x"))
    for name in ("a.svg", "a.png", "a.pdf", "a.html"):
        save_chart(drawn, tmp_path / name)
    assert {"a\ufffdb", "c"} <= find_texts(tmp_path / "a.svg")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dots", "heatmap", "line"])
def test_kinds_of_metrics_are_drawn_with_facets_next_to_each_other(kind, tmp_path):
    by = ["country", "device", "half=score > 0.5", "day"]
    save_chart(
        sqlrank.chart(evaluate_clicks(["Brier", "LogLoss"], by=by, confidence=0.9), kind),
        tmp_path / "a.svg",
    )
    titles = {"line": "half: 0", "dots": "half, day", "heatmap": "half"}
    assert {"country", titles[kind]} <= find_texts(tmp_path / "a.svg")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["roc", "calibration", "pr", "gain", "lift", "threshold"])
def test_curves_are_drawn_with_facets(kind, tmp_path):
    curve = {
        name.lower(): name for name in ("ROC", "PR", "Gain", "Lift", "Threshold", "Calibration")
    }[kind]
    save_chart(
        sqlrank.chart(evaluate_clicks(curve, by=["country", "device", "day"])), tmp_path / "a.svg"
    )
    assert "country" in find_texts(tmp_path / "a.svg")


@pytest.mark.slow
@pytest.mark.parametrize("per_query", [True, False])
def test_comparisons_are_drawn_within_groups(per_query, tmp_path):
    data = CLICKS.append_column("query_id", [list("abcdefgh")]).append_column("other", [[0.5] * 8])
    columns = {"score": ["score", "other"]}
    result = sqlrank.compare(
        ["Brier", "MAE"],
        predictions=data,
        columns=columns,
        level="query",
        by=["country", "day"],
        per_query=per_query,
    )
    save_chart(sqlrank.chart(result), tmp_path / "a.svg")
    shown = find_texts(tmp_path / "a.svg")
    assert (
        any("country=DE, day=2026-01-01" in text for text in shown)
        if per_query
        else {"country", "DE", "FR", "day", "2026-01-01", "2026-01-02"} <= shown
    )


@pytest.mark.parametrize(
    "ending", select_few(sorted(WRITERS_BY_SUFFIX.keys() - {".pdf"}), {".svg", ".json"})
)
def test_the_same_chart_gives_the_same_bytes(ending, tmp_path):
    for name in ("a", "b"):
        save_chart(
            sqlrank.chart(evaluate_clicks("Brier", by=["country", "device"])),
            tmp_path / f"{name}{ending}",
        )
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.slow
def test_pictures_are_what_their_endings_say(tmp_path):
    chart = sqlrank.chart(evaluate_clicks("Brier", by="country"))
    for ending in WRITERS_BY_SUFFIX:
        save_chart(chart, tmp_path / f"a{ending.upper()}")
    png = (tmp_path / "a.PNG").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    said = b"tEXtSoftware\0sqlrank " + sqlrank.__version__.encode()
    start = png.index(said)
    assert int.from_bytes(png[start - 4 : start], "big") == len(said) - 4
    assert png[start + len(said) : start + len(said) + 4] == zlib.crc32(said).to_bytes(4, "big")
    assert (tmp_path / "a.PDF").read_bytes().startswith(b"%PDF-")
    assert json.loads((tmp_path / "a.JSON").read_text("utf-8")) == chart.to_dict()


@pytest.mark.slow
def test_a_page_needs_no_network(tmp_path):
    save_chart(sqlrank.chart(evaluate_clicks("ROC")), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>\n<!-- sqlrank ")
    assert re.findall(r"<(?:script|link|iframe)[^>]*\s(?:src|href)=", page) == []
    assert re.findall(r"\bimport\s*\(?[\"']|\bfrom\s*[\"']https?:", page) == []
    assert "vegaEmbed(" in page


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "name",
    [
            "<script>", 'it\'s "so"', "select", "שלום", "a.b", "a[b]", "x\\y", "n", "x",
            "colour", "datum.y",
        ],
)  # fmt: skip
def test_any_name_of_a_column(name, tmp_path):
    data = CLICKS.select(["label", "score", "country"]).rename_columns(["label", "score", name])
    result = sqlrank.evaluate("Brier", predictions=data, by=name)
    save_chart(sqlrank.chart(result), tmp_path / "a.svg")
    assert find_texts(tmp_path / "a.svg") >= {name, "DE", "FR"}


@pytest.mark.slow
def test_any_value_of_a_column(tmp_path):
    data = pa.table(
        {
            "label": [0, 1] * len(HOSTILE),
            "score": [0.1, 0.9] * len(HOSTILE),
            "shop": [name for name in HOSTILE for _ in "01"],
        }
    )
    chart = sqlrank.chart(sqlrank.evaluate("Brier", predictions=data, by="shop"))
    for ending in (".svg", ".html"):
        save_chart(chart, tmp_path / f"a{ending}")
    shown = {text.strip("\u202a\u202b\u202c") for text in find_texts(tmp_path / "a.svg")}
    assert shown >= {name for name in HOSTILE if name.strip()}
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.count("</script>") == 1
    assert "alert(1)" in page
    assert "<script>alert" not in page


def test_help_does_not_wait_for_altair():
    script = "import sys, sqlrank.cli.commands; print(*sys.modules, sep='\\n')"
    there = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=TREC.parents[2],
    ).stdout.split()
    assert "sqlrank.cli.commands" in there
    assert not {"altair", "vl_convert"} & set(there)


def test_vl_convert_is_named_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    chart = sqlrank.chart(evaluate_clicks("ROC"))
    with pytest.raises(
        sqlrank.SqlrankError,
        match=r"^charts need vl_convert. Run pip install 'altair<7' vl-convert-python$",
    ):
        save_chart(chart, tmp_path / "a.svg")
    save_chart(chart, tmp_path / "a.json")


@pytest.fixture
def clicks(tmp_path: Path) -> Path:
    pq.write_table(CLICKS, tmp_path / "clicks.parquet")
    return tmp_path / "clicks.parquet"


@pytest.mark.slow
def test_the_command_draws_what_evaluate_gives(clicks, tmp_path):
    output = tmp_path / "roc.json"
    assert (
        run_command("chart", "ROC", "--predictions", clicks, "--by", "country", "-o", output) == ""
    )
    assert (
        json.loads(output.read_text("utf-8"))
        == sqlrank.chart(evaluate_clicks("ROC", by="country")).to_dict()
    )
    # Its own file is replaced.
    run_command(
        "chart", "Brier", "--predictions", clicks, "--by", "country", "--by", "device",
        "--kind", "dots", "-o", output,
    )  # fmt: skip
    assert (
        json.loads(output.read_text("utf-8"))
        == sqlrank.chart(evaluate_clicks("Brier", by=["country", "device"]), "dots").to_dict()
    )


def test_the_command_draws_the_best(clicks, tmp_path):
    run_command("chart", "Brier", "--predictions", clicks, "--by", "day", "--by", "country", "--kind", "dots",
            "--sort", "Brier", "--top", 1, "-o", tmp_path / "a.json")  # fmt: skip
    data = json.loads((tmp_path / "a.json").read_text("utf-8"))["datasets"]
    assert [len(rows) for rows in data.values()] == [1]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("per_query", [True, False])
def test_the_command_draws_a_stored_comparison(per_query, tmp_path):
    stored = tmp_path / "c.parquet"
    runs = [
        f"--run=full={TREC / 'results.test'}",
        f"--run=cut={TREC / 'results.trunc'}",
        "--qrels",
        TREC / "qrels.test",
    ]
    run_command("compare", "AP", *runs, *(["--per-query"] if per_query else []), "-o", stored)
    run_command("chart", "--result", stored, "-o", tmp_path / "c.json")
    assert ("queries, in order" in (tmp_path / "c.json").read_text("utf-8")) is per_query


@pytest.mark.slow
@pytest.mark.parametrize("ending", select_few(WRITERS_BY_SUFFIX, {".png", ".json"}))
def test_only_charts_of_sqlrank_are_replaced(ending, clicks, tmp_path):
    output = tmp_path / f"a{ending}"
    output.write_text("mine", "utf-8")
    call = ("chart", "ROC", "--predictions", clicks, "-o", output)
    assert (
        "nothing in this file says that sqlrank wrote it. Replace it with --force"
        in run_refused_command(*call)
    )
    assert output.read_text("utf-8") == "mine"
    run_command(*call, "--force")
    first = output.stat().st_mtime_ns
    run_command(*call)
    assert output.stat().st_mtime_ns > first


def test_a_stored_table_that_is_none_of_ours(clicks, tmp_path):
    assert "this table has no metadata of sqlrank" in run_refused_command(
        "chart", "--result", clicks, "-o", tmp_path / "a.svg"
    )
    (tmp_path / "r.csv").write_text("AUC\n0.5\n", "utf-8")
    assert (
        "no Parquet file. Other formats do not keep the metadata of columns. Write the result again"
        " with -o result.parquet"
        in run_refused_command(f"chart --result {tmp_path}/r.csv -o {tmp_path}/a.svg")
    )


def test_an_input_is_not_replaced(clicks):
    picture = clicks.with_suffix(".json")
    picture.write_text('[{"label": 1, "score": 0.5}]', "utf-8")
    assert (
        "this file is an input, which its own result cannot replace. Name another file"
        in run_refused_command("chart", "ROC", "--predictions", picture, "-o", picture, "--force")
    )


def test_a_run_is_drawn(tmp_path):
    run_command(
        "chart", "nDCG@1..20", "--run", TREC / "results.test", "--qrels", TREC / "qrels.test",
        "-o", tmp_path / "a.svg",
    )  # fmt: skip
    assert "cut-off k (rank)" in find_texts(tmp_path / "a.svg")


PAGE = (ROOT / "docs" / "charts.md").read_text("utf-8")
GALLERY = re.findall(
    r"^```sh\n((?:sqlrank .*\n(?:    .*\n)*)+)```\n\n!\[[^]]*\]\((assets/\S+\.svg)\)$",
    PAGE,
    re.MULTILINE,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("commands", "picture"), [pytest.param(*found, id=found[1]) for found in GALLERY]
)
def test_pictures_of_the_gallery_are_drawn_by_their_commands(
    commands, picture, tmp_path, monkeypatch
):
    """Their words and curves; where these stand depends on the fonts of a machine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command in commands.replace("\\\n", " ").splitlines():
        run_command(*shlex.split(command)[1:])
    drawn, stored = tmp_path / Path(picture).name, ROOT / "docs" / picture
    assert find_texts(stored) == find_texts(drawn)
    curves = [
        re.findall(r' d="(M[^"]{200,})"', path.read_text("utf-8")) for path in (stored, drawn)
    ]
    assert curves[0] == curves[1]


def test_the_gallery_has_a_command_for_each_picture():
    assert [picture for _, picture in GALLERY] == re.findall(r"\((assets/\S+\.svg)\)", PAGE)
    assert len(GALLERY) >= 8
