"""Texts of data and of callers in output: no control characters, no secrets, no active markup."""

import csv
import io
import pickle
import re
import subprocess
import sys
import time
import unicodedata
from html.parser import HTMLParser

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt

import sqlrank
from sqlrank.errors import (
    MAX_LINE_CHARS,
    InputError,
    SqlrankError,
    clean_line,
    escape_controls,
    quote_excerpt,
    redact_secrets,
    short_repr,
)
from sqlrank.output.ci_reports import format_junit, github_annotations, markdown_summary
from sqlrank.output.result_formats import Format, TableStyle, format_result
from tests.interface.command_line import ROOT, run_command, run_refused_command
from tests.tables import build_table

STEERING = {
    "title": "\x1b]0;PWN\x07",
    "color": "\x1b[31mred",
    "bell": "a\x07",
    "one byte": "a\x9b31m",
    "override": "\u202egnp.exe",
    "isolate": "a\u2066b\u2069",
    "mark": "a\u200fb\u200ec\u061c",
    "return": "a\rb",
    "break": "a\nb",
    "separator": "a\u2028b\x85c",
    "command": "a\n::set-output name=x::y",
    "erase": "\x08\x7f",
}
MARKUP = {
    "script": "<script>alert(1)</script>",
    "image": "![x](http://evil.example/x.png)",
    "link": "[x](javascript:alert(1))",
    "true_clusters": "[x][y]",
    "address": "see http://evil.example/x",
    "bare": "www.evil.example",
    "mail": "bob@evil.example",
    "autolink": "<http://evil.example>",
    "mention": "@everyone",
    "issue": "#1",
    "emoji": ":smile:",
    "pipe": "a|b",
    "escaped pipe": "a\\|b",
    "code": "`x` ``y",
    "fence": "```",
    "emphasis": "*a* _b_ ~~c~~",
    "entity": "&lt;b&gt; &#60;",
    "comment": "<!-- x",
    "unclosed": "<img src=x onerror=alert(1)",
    "mathematics": "$\\frac{1}{2}$",
    "document": "\\end{tabular}\\input{/etc/passwd}",
    "option": "[1cm]",
    "comment of TeX": "%x",
    "rich": "[red]x[/red]",
    "blank": " a ",
    "formula": "=cmd|' /C calc'!A0",
}
HOSTILE = STEERING | MARKUP
PLAIN = [
    "nDCG@10", "num_rel_ret", "P(rel=2)@5", "a, b", "2026-01-01", "bm25+rm3", "x/y.parquet",
    "a: b", "50 %", "C:\\data", "naïve", "[0, 1)", "a & b",
]  # fmt: skip

ADDRESSES = [
    "postgresql://bob:hunter2@db/x",
    "postgresql://bob:hun/ter2:hunter2@db:5432/x",
    "s3://KEY:hunter2@bucket/x.parquet",
    "https://x.example/x.parquet?token=hunter2",
    "https://x.example/x.parquet?X-Amz-Credential=hunter2&X-Amz-Signature=hunter2",
    "https://hunter2@x.example/x.parquet",
    "host=db user=bob password=hunter2",
    "host=db password='hunter2 hunter2'",
    "Server=db;PWD=hunter2;",
    "AccountName=x;AccountKey=hunter2",
    "databricks://token:hunter2@x",
    "x access_token=hunter2",
    f"postgresql://bob:{'hunter2' * 60}@db/x",
]


def has_controls(text: str) -> bool:
    return any(
        unicodedata.category(char) in {"Cc", "Zl", "Zp", "Cs"}
        or char in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        for char in text
    )


class Tags(HTMLParser):
    """The tags of a page, and the text of each cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in {"td", "th"}:
            self.cells.append("")
            assert all(name == "style" for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_control_characters_are_escaped_in_tables(form):
    result = pa.table(
        {"g": list(STEERING.values()), "".join(STEERING.values()): list(STEERING.values())}
    )
    text = format_result(result, Format(form), TableStyle())
    assert not has_controls(text.replace("\n", ""))
    extra = {"table": 1, "markdown": 2, "latex": 6}[form]
    assert len(text.splitlines()) == len(STEERING) + extra
    assert ("\\textbackslash{}x1b" if form == "latex" else "\\x1b") in text
    on_its_side = pa.table({name: [name] for name in STEERING.values()})
    assert not has_controls(
        format_result(on_its_side, Format(form), TableStyle()).replace("\n", "")
    )


def test_tables_show_texts_as_they_are():
    lines = format_result(
        pa.table({"g": list(MARKUP.values())}), Format.table, TableStyle()
    ).splitlines()[1:]
    assert lines == [text.rstrip() for text in MARKUP.values()]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_shows_texts_as_texts(name):
    text = HOSTILE[name]
    table = format_result(pa.table({"g": [text], text: [text]}), Format.markdown, TableStyle())
    page = Tags(
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(table)
    )
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "code", "br", "p"}
    expected = escape_controls(text).strip()
    found = [cell.strip() for cell in page.cells]
    assert found[1:] == [expected] * 3 or found[1:] == [text.replace("\n", "")] * 3
    # What GitHub finds in plain text is code.
    if name in {"address", "bare", "mail", "mention", "issue", "emoji", "mathematics"}:
        assert table.count(f"`{text}`") == 3


@pytest.mark.parametrize("text", PLAIN)
def test_markdown_leaves_plain_texts_as_they_are(text):
    assert (
        format_result(pa.table({"g": [text]}), Format.markdown, TableStyle()).splitlines()[2]
        == f"| {text} |"
    )


def test_data_formats_keep_texts():
    result = pa.table({name: list(HOSTILE.values()) for name in HOSTILE.values()})
    text = format_result(result, Format.csv, TableStyle())
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        result.column_names,
        *([value] * len(HOSTILE) for value in HOSTILE.values()),
    ]
    assert '"a\rb"' in text


def test_csv_of_a_lone_carriage_return_is_read_by_duckdb(tmp_path):
    (tmp_path / "x.csv").write_text(
        format_result(build_table(g=["a\rb", "c"], v="1 2"), Format.csv, TableStyle()),
        "utf-8",
        newline="",
    )
    assert duckdb.sql(
        f"FROM read_csv('{tmp_path}/x.csv', header=true, new_line='\\n')"
    ).fetchall() == [("a\rb", 1), ("c", 2)]


@pytest.mark.parametrize("text", STEERING.values())
def test_verdicts_show_no_control_characters(text):
    row = {
        "g": text,
        "metric": "AP",
        "baseline": text,
        "system": f"{text} new",
        "value_baseline": 0.5,
        "value": 0.4,
        "difference": -0.1,
        "ci_low": -0.2,
        "ci_high": -0.05,
        "n_units": 20,
    }
    row |= {"tolerance": 0.0, "verdict": "fail", "required_units": None, "reason": f"worse {text}"}
    result = pa.Table.from_pylist([row]).replace_schema_metadata({"sqlrank.verdict": "fail"})
    assert not has_controls(markdown_summary(result, 4).replace("\n", ""))
    assert len(markdown_summary(result, 4).splitlines()) == 10
    (line,) = github_annotations(result)
    assert not has_controls(line)
    assert line.startswith("::error title=sqlrank gate::")
    assert not has_controls(format_junit(result).replace("\n", ""))


@pytest.mark.parametrize("name", STEERING)
def test_messages_show_no_control_characters(name, tmp_path):
    text = STEERING[name]
    table = pa.table({"label": [0, 1], "score": [0.1, 0.2], text: [text, text]})
    pq.write_table(table, tmp_path / "p.parquet")
    for call in (
        {"by": "nope"},
        {"by": text + "x"},
        {"columns": {"label": "nope"}},
        {"where": f"{text} = 1"},
        {"metrics": text},
        {"compat": text},
        {"ties": text},
        {"predictions": text},
        {"predictions": build_table(label=[text, "1"], score="0.1 0.2")},
    ):
        with pytest.raises(SqlrankError) as caught:
            sqlrank.evaluate(**{"metrics": "AUC", "predictions": table, **call})
        assert not has_controls(str(caught.value)), call
    message = run_refused_command(f"evaluate AUC --predictions {tmp_path}/p.parquet --by nope")
    assert not has_controls(message.rstrip("\n"))
    assert "There are: label, score" in message


def test_lines_of_a_message_are_ours():
    error = InputError("one\ntwo", "three\n    four")
    assert str(error) == "one\\ntwo\nthree\n    four"
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  our own
    assert (type(copy), str(copy)) == (InputError, str(error))
    assert str(InputError(str(InputError("a\x1b password=x")))) == "a\\x1b password=***"


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "argument",
    [
        "connection", "predictions", "run", "where", "by", "compat", "sql_dir", "metrics",
        "temp_directory", "unit",
    ],
)  # fmt: skip
def test_messages_repeat_no_secrets(argument, address):
    call = {
        "metrics": "AUC",
        "predictions": build_table(label="0 1", score="0.1 0.2"),
        "confidence": 0.9,
    }
    if argument == "run":
        call = {"metrics": "RR", "qrels": build_table(query_id="1", doc_id="1", relevance="1")}
    if argument == "temp_directory":
        address = f"/dev/null/{address}"
    with pytest.raises(SqlrankError) as caught:
        sqlrank.evaluate(**{**call, argument: address})
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in redact_secrets(repr(address))
    assert "hunter2" not in quote_excerpt(address)
    assert "hunter2" not in short_repr(address)
    assert "hunter2" not in short_repr({"address": address})


def test_an_address_is_no_connection():
    assert "hunter2" not in run_refused_command(
        "evaluate AUC --predictions clicks --db postgresql://bob:hunter2@db/x"
    )
    assert "hunter2" not in run_refused_command(
        "evaluate AUC --predictions 'https://x.example/p.parquet?token=hunter2'"
    )


@pytest.mark.parametrize(
    "text",
    [
        "http://host:8080/x", "file:///tmp/a@b.parquet", "s3://bucket/part-?.parquet", "C:/Users/me@x", "a secretary = 'x'", "tokens: 5",
        "the column 'password' is missing", "unknown key 'x'", "depth=100, salt='x'",
        "'i IN secret': 'i IN secret' may read a table", "'i NOT IN main.token': it may read a table",
    ],
)  # fmt: skip
def test_what_is_no_secret_is_shown(text):
    assert clean_line(text) == text


def test_long_texts_are_cut():
    wide = pa.table(
        {f"column_{number:05}": [1] for number in range(2000)} | {"label": [1], "score": [0.5]}
    )
    for call in (
        {"by": "nope", "predictions": wide},
        {"metrics": "x" * 5000},
        {"by": "y" * 5000},
        {"metrics": "FBeta(beta=1e308)"},
    ):
        with pytest.raises(SqlrankError) as caught:
            sqlrank.evaluate(
                **{"metrics": "AUC", "predictions": wide.select(["label", "score"]), **call}
            )
        assert len(str(caught.value)) <= MAX_LINE_CHARS + 3
    assert clean_line("x" * 5000) == f"{'x' * 1500}...{'x' * 500}"
    with pytest.raises(SqlrankError) as caught:
        sqlrank.dbt_model("AUC", "m", predictions=wide.slice(0, 1))
    assert len(str(caught.value)) < 400
    assert re.match(r"predictions: .* is neither a dbt model", str(caught.value))


def test_explanations_show_no_control_characters():
    text = STEERING["title"]
    run = build_table(query_id=[text] * 2, doc_id=[text, "b"], score="0.9 0.5")
    qrels = build_table(query_id=[text], doc_id=[text], relevance="1")
    assert not has_controls(
        str(sqlrank.explain("RR", query=text, run=run, qrels=qrels)).replace("\n", "")
    )


def test_the_command_prints_no_control_characters(tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(
        build_table(
            label="0 1 0 1",
            score="0.1 0.2 0.1 0.2",
            g=[STEERING["title"]] * 2 + [STEERING["break"]] * 2,
        ),
        path,
    )
    for form in ("table", "markdown", "latex"):
        found = run_command(
            "evaluate", "AUC", "--predictions", str(path), "--by", "g", "--format", form
        )
        assert not has_controls(found.replace("\n", ""))


@pytest.mark.slow
def test_a_refused_condition_is_the_whole_message(tmp_path):
    (tmp_path / "p.csv").write_text("label,score\n1,0.5\n")
    words = [
        sys.executable, "-m", "sqlrank", "evaluate", "AUC", "--predictions",
        str(tmp_path / "p.csv"), "--where", "LOAD httpfs",
    ]  # fmt: skip
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("sqlrank: ")
    assert "'LOAD httpfs' is not one condition over columns in the SQL of duckdb" in done.stderr


def test_a_line_of_a_table_is_no_command_of_a_workflow():
    table = build_table(g=["::error::no", " ::add-mask::x", "a::b"], AUC="0.5 0.5 0.5")
    lines = format_result(table, Format.table, TableStyle()).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["\\x3a:error::no", "\\x3a:add-mask::x", "a::b"]


def test_characters_that_xml_does_not_have_are_escaped():
    assert escape_controls("a\uffff\ufffe") == "a\\uffff\\ufffe"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("length", [12_000, 100_000])
def test_names_of_many_letters_take_no_time(length):
    """A search for names in texts once took time by the square of their length: 9 s for 12,000."""
    name = "a" * length
    table = build_table(label="0 1", score="0.1 0.2", x="1 2")
    named = table.rename_columns(["label", "score", name])
    limit = time.process_time() + 3
    result = sqlrank.evaluate("Brier", predictions=named, by=name)
    assert result.column_names[0] == name
    assert len(sqlrank.sql("Brier", predictions="p", by=f"{name}=x")) > 2 * length
    for call in (
        {"by": name},
        {"columns": {"score": name}},
        {"where": f"{name} = 1"},
        {"unit": name, "confidence": 0.9},
        {"metrics": f"AUC({name})"},
        {"metrics": name},
    ):
        with pytest.raises(SqlrankError) as caught:
            sqlrank.evaluate(**{"metrics": "Brier", "predictions": table, **call})
        assert len(str(caught.value)) < 5_000
    assert time.process_time() < limit
