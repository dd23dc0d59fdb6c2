"""Reports: the contents of a page, errors, and the command."""

import re
import shlex
import sys
from datetime import UTC, datetime
from functools import cache
from html import unescape
from html.parser import HTMLParser
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.explanations import explain as explaining
from tests.interface.command_line import invoke_command, run_command, run_refused_command
from tests.interface.test_chart_files import HOSTILE
from tests.lanes import select_few
from tests.tables import build_table

RUNS = {
    "old": {
        "q1": {"a": 2.0, "b": 1.0},
        "q2": {"b": 2.0, "a": 1.0},
        "q3": {"b": 3.0, "c": 2.0, "a": 1.0},
    },
    "new": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"a": 2.0, "b": 1.0}},
}
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 2}}


class Page(HTMLParser):
    """The content of a page: the texts of its elements by id, its tables, and its elements."""

    VOID = ("meta", "link", "input", "wbr")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self.open: list[str] = []
        self._table: list[list[str]] | None = None
        self._in = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [found["id"]] if found.get("id") else []
        self.links += [str(found["href"])] if tag == "a" else []
        if tag == "table":
            self._table = self.tables.setdefault(found.get("id") or f"table {len(self.tables)}", [])
        if tag == "tr" and self._table is not None:
            self._table.append([])
        if tag in {"td", "th"} and self._table:
            self._table[-1].append("")
        self._in = tag

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in {"td", "th"} and self._table and self._table[-1]:
            self._table[-1][-1] = " ".join(self._table[-1][-1].split())
        if tag == "table":
            self._table = None

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data
        if (
            self._table
            and self._table[-1]
            and {"td", "th"} & set(self.open)
            and self.open[-1] != "button"
        ):
            self._table[-1][-1] += data

    def rows(self, name: str) -> list[list[str]]:
        return self.tables[f"{name}-rows"][1:]


def report_rankings(**options: Any) -> Any:
    return sqlrank.report(["RR", "P@1"], run=RUNS, qrels=QRELS, created_at="today", **options)


@pytest.fixture(scope="module")
def report_page() -> Any:
    return report_rankings(title="A & B")


@pytest.fixture(scope="module")
def page(report_page: Any) -> Page:
    return Page(report_page.html)


CLICKS = build_table(
    label="0 1 0 1 0 1 0 0",
    old="0.1 0.4 0.35 0.8 0.2 0.6 0.7 0.9",
    new="0.1 0.9 0.2 0.8 0.2 0.6 0.3 0.1",
    country="FR FR FR FR DE DE IT IT",
)
SCORES = {"predictions": CLICKS, "columns": {"score": ["old", "new"]}}


@pytest.fixture(scope="module")
def clicks() -> Page:
    return Page(sqlrank.report(["AUC", "Brier"], by="country", created_at="today", **SCORES).html)


@pytest.mark.slow
def test_metrics_have_the_requested_names():
    metrics = ["MRR", "Recall@2", "RR"]
    shown = Page(sqlrank.report(metrics, run=RUNS, qrels=QRELS, created_at="today").html)
    assert [row[1] for row in shown.rows("summary-table")] == [
        name for name in ("MRR", "RR", "Recall@2") for _ in RUNS
    ]
    assert [(row[0], row[3]) for row in shown.rows("meanings-table")] == [
        (name, "higher") for name in ("MRR", "RR", "Recall@2")
    ]
    assert {row[0] for row in shown.rows("comparison-table")} == {*metrics}


@pytest.mark.slow
def test_the_summary_has_every_metric_of_every_system(page):
    # RR of old: 1, 1/2, 1/3; of new: 1/2, 1, 1.
    assert [row[:3] for row in page.rows("summary-table")] == [
        ["old", "RR", "0.6111"],
        ["new", "RR", "0.8333"],
        ["old", "P@1", "0.3333"],
        ["new", "P@1", "0.6667"],
    ]
    assert page.rows("meanings-table") == [
        [
            "RR",
            "reciprocal rank of the first relevant document, whose mean over queries is MRR.",
            "0 to 1",
            "higher",
        ],
        [
            "P@1",
            "precision, the share of the documents at ranks 1 to k that are relevant.",
            "0 to 1",
            "higher",
        ],
    ]


@pytest.mark.slow
def test_systems_are_compared_with_the_first(page):
    rows = page.rows("comparison-table")
    assert [(*row[:4], row[-1]) for row in rows] == [
        ("RR", "0.6111", "0.8333", "+0.2222", "none"),
        ("P@1", "0.3333", "0.6667", "+0.3333", "none"),
    ]
    assert "Paired t-test of 3 queries, p by Holm, intervals at 97.5%." in page.text


@pytest.mark.slow
def test_queries_that_moved_most_are_named_with_both_lists(page):
    assert page.rows("queries-lost") == [["q1", "1.0000", "0.5000", "-0.5000"]]
    assert page.rows("queries-gained") == [
        ["q3", "0.3333", "1.0000", "+0.6667"],
        ["q2", "0.5000", "1.0000", "+0.5000"],
    ]
    lists = [rows for name, rows in page.tables.items() if not name.endswith("-rows")]
    head = ["rank", "document", "grade", "other list"]
    assert lists[0] == [head, ["1", "a", "1 relevant", "2"], ["2", "b", "0 not relevant", "1"]]
    assert lists[1] == [head, ["1", "b", "0 not relevant", "2"], ["2", "a", "1 relevant", "1"]]
    assert lists[2] == [
        head,
        ["1", "b", "unjudged", "2"],
        ["2", "c", "unjudged", "–"],
        ["3", "a", "2 relevant", "1"],
    ]
    assert "RR of query q1 is 0.5" in page.text


@pytest.mark.slow
def test_more_examples_take_no_more_statements(monkeypatch):
    statements = []
    run_over_ctes = explaining.run_over_ctes
    monkeypatch.setattr(
        explaining,
        "run_over_ctes",
        lambda *args: statements.append(args[2]) or run_over_ctes(*args),
    )
    counts = []
    for examples in (0, 1, 3):
        statements.clear()
        report_rankings(query_examples=examples)
        counts.append(len(statements))
    assert counts[0] == 0 < counts[1] == counts[2]


@pytest.mark.slow
def test_the_account_says_what_the_numbers_are_of(page):
    counts = {row[0]: row[1:3] for row in page.rows("account-table")}
    assert page.tables["account-table-rows"][0] == ["count", "old", "new", "what it counts"]
    assert counts["num_q"] == ["3", "3"]
    assert counts["num_unjudged"] == ["3", "2"]
    assert counts["num_ret"] == ["7", "6"]


@pytest.mark.slow
def test_groups_are_shown_the_worst_first_and_those_of_one_class_named(clicks):
    rows = clicks.rows("group-0")
    assert [row[:2] for row in rows[-2:]] == [["old", "IT"], ["new", "IT"]]
    assert [row[2] for row in rows[-2:]] == ["NULL", "NULL"]
    assert clicks.rows("account-group-0") == [["old", "IT", "0", "2"], ["new", "IT", "0", "2"]]


@pytest.mark.slow
def test_groups_of_both_classes_are_not_listed():
    page = Page(
        sqlrank.report(
            "AUC", predictions=CLICKS.slice(0, 6), columns={"score": "old"}, by="country"
        ).html
    )
    assert "account-group-0-rows" not in page.tables
    assert "Every group has both classes." in page.text


@pytest.mark.slow
def test_predictions_have_curves_and_a_comparison(clicks):
    assert {
        "curve-roc", "curve-pr", "curve-calibration", "curve-gain", "summary-chart",
        "group-0-chart",
    } <= set(clicks.ids)  # fmt: skip
    assert "Not drawn" not in clicks.text
    assert [(row[0], row[-1]) for row in clicks.rows("comparison-table")] == [
        ("AUC", "none"),
        ("Brier", "none"),
    ]


@pytest.mark.slow
def test_the_legends_of_roc_and_pr_have_the_digits_of_metrics():
    rows = {"label": [0, 1, 1, 0, 1] * 200, "old": [n % 7 / 7 for n in range(1000)]}
    rows["new"] = [n % 11 / 11 for n in range(1000)]
    html = sqlrank.report("AUC", predictions=rows, columns={"score": ["old", "new"]}).html
    values = sqlrank.evaluate(
        ["AUC", "APS"], predictions=rows, columns={"score": ["old", "new"]}
    ).to_pylist()
    for row, metric in product(values, ("AUC", "APS")):
        assert html.count(f">{row['score']}, {metric} {row[metric]:.4f}<") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["page", "clicks"])
def test_links_lead_somewhere_and_ids_are_distinguished(name, request):
    page = request.getfixturevalue(name)
    assert len(page.links) > 10
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert page.open == []


@pytest.mark.slow
def test_every_table_has_its_statement(page, report_page):
    for name in (
        "summary-table",
        "comparison-table",
        "queries-lost",
        "account-table",
        "curve-cutoffs",
    ):
        assert f"{name}-sql" in page.ids
    found = re.search(r'<code id="summary-table-sql">(.*?)</code>', report_page.html, re.DOTALL)
    assert found is not None
    assert found[1].startswith("-- sqlrank")
    assert "SELECT" in found[1]


def test_the_page_has_the_arguments_of_the_call(page):
    for text in ("today", f"sqlrank {sqlrank.__version__}", "RR, P@1", "a dict of 3 queries"):
        assert text in page.text


@pytest.mark.slow
def test_exports_of_two_systems_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new"):
        (tmp_path / f"{name}.jsonl").write_text(
            '{"query_id": "q1", "retrieved": ["a"], "relevant": ["a"]}\n', "utf-8"
        )
    assert (
        invoke_command(
            "report RR --input answers=old=old.jsonl --input answers=new=new.jsonl -o report.html"
        ).exit_code
        == 0
    )
    page = Page((tmp_path / "report.html").read_text("utf-8"))
    assert "answers=old=old.jsonl (58 bytes), new=new.jsonl (58 bytes)" in page.text


@pytest.mark.slow
def test_the_same_report_has_the_same_bytes(report_page):
    assert report_rankings(title="A & B").html == report_page.html


def test_it_fetches_nothing(report_page):
    html = report_page.html
    assert re.findall(r'(?:src|href)="(?!#|data:,)', html) == []
    assert re.findall(r"url\((?!#)", html) == []
    assert "default-src 'none'" in html


@pytest.mark.slow
def test_when_is_now_or_as_given():
    html = sqlrank.report(
        "RR", run=RUNS, qrels=QRELS, created_at=datetime(2026, 1, 2, 3, tzinfo=UTC)
    ).html
    assert "<bdi>2026-01-02 03:00:00+00:00</bdi>" in html


@pytest.mark.slow
def test_a_report_of_one_system_has_nothing_to_compare():
    page = Page(sqlrank.report("AP", run=RUNS["old"], qrels=QRELS).html)
    assert "comparison" not in page.ids
    assert "queries" not in page.ids
    assert [row[:2] for row in page.rows("summary-table")] == [["AP", "0.6111"]]


@pytest.mark.slow
def test_policies_reach_the_metrics_that_read_them():
    # DCG of q3 with gains of 2^relevance - 1: 3 / log2(4) of old, 3 / log2(2) of new; of q1 and q2
    # 1 and 0.63.
    page = Page(
        sqlrank.report(["DCG@3", "AP"], run=RUNS, qrels=QRELS, gain="exp2", ties="doc_asc").html
    )
    assert [row[0] for row in page.rows("comparison-table")] == ["DCG@3", "AP"]
    assert page.rows("queries-gained")[0] == ["q3", "1.5000", "3", "+1.5000"]
    assert "gain" in page.text


def test_a_report_needs_no_judgments_where_no_metric_reads_them():
    page = Page(sqlrank.report("num_shown", run=RUNS).html)
    assert [row[:3] for row in page.rows("account-table")] == [
        ["num_lists", "3", "3"],
        ["num_shown", "3", "2"],
    ]
    assert "num_shown cannot be compared by units: it describes the data" in page.text


@pytest.mark.slow
def test_metrics_that_cannot_be_compared_are_named():
    page = Page(sqlrank.report(["KS", "AUC"], **SCORES).html)
    assert "KS cannot be compared by units" in page.text
    assert [row[0] for row in page.rows("comparison-table")] == ["AUC"]


LONG = "x" * 10_000


HARD = {**dict(zip("abcdefghij", HOSTILE, strict=True)), "long": LONG, "unseen": "a\x01b\x7f"}
DISPLAYED = {
    "g": "שלום\\u202e",
    "long": f"{'x' * 200}... (10,000 characters)",
    "unseen": "a\\x01b\\x7f",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", select_few([case for case, name in HARD.items() if name.strip()], {"b"})
)
def test_hostile_names_show_as_text(case):
    name = HARD[case]
    runs = {
        "old": {name: {name: 1.0, "b": 0.5}, "q": {"a": 1.0}},
        name: {name: {"b": 1.0, name: 0.5}, "q": {"a": 1.0}},
    }
    qrels = {name: {name: 1}, "q": {"a": 1}}
    found = sqlrank.report("RR", run=runs, qrels=qrels, title=name)
    page = Page(found.html)
    assert page.tags.count("script") == 1
    assert page.open == []
    assert page.rows("queries-lost")[0][0] == DISPLAYED.get(case, name)
    assert len(found.html) < 500_000
    assert max(int(width) for width in re.findall(r'<svg [^>]* width="(\d+)"', found.html)) < 1500


@pytest.mark.slow
def test_long_names_and_metrics_are_drawn_apart():
    metric = "nDCG(gain={1: 1, 2: 3, 3: 7, 4: 15, 5: 31, 6: 63, 7: 127, 8: 255, 9: 511})@3"
    html = sqlrank.report(
        metric, run={LONG: RUNS["old"], f"{LONG}y": RUNS["new"]}, qrels=QRELS
    ).html
    assert f"{'x' * 60}... (2)" in html
    assert "Not drawn" not in html


@pytest.mark.slow
def test_names_of_columns_and_groups_show_as_text():
    name = "<script>alert('1')</script>\""
    table = pa.table(
        {
            "label": [0, 1, 0, 1],
            "a": [0.1, 0.2, 0.3, 0.4],
            "b": [0.4, 0.3, 0.2, 0.1],
            name: [name] * 4,
        }
    )
    page = Page(
        sqlrank.report("AUC", predictions=table, columns={"score": ["a", "b"]}, by=name).html
    )
    assert page.tags.count("script") == 1
    assert page.tables["group-0-rows"][0][1] == name
    assert page.rows("group-0")[0][1] == name


@cache
def report_many_queries() -> Any:
    queries = pa.array([f"q{place:06}" for place in range(100_000)])
    runs = {}
    for name, step in (("old", 3), ("new", 5)):
        docs = pa.array(["a" if place % step else "b" for place in range(100_000)])
        runs[name] = pa.table(
            {"query_id": queries, "doc_id": docs, "score": pa.array([1.0] * 100_000)}
        )
    qrels = pa.table(
        {
            "query_id": queries,
            "doc_id": pa.array(["a"] * 100_000),
            "relevance": pa.array([1] * 100_000),
        }
    )
    shops = pa.table(
        {"query_id": queries, "shop": pa.array([f"shop {place % 500}" for place in range(100_000)])}
    )
    return sqlrank.report(["RR", "P@1"], run=runs, qrels=qrels, queries=shops, by="shop")


@pytest.mark.slow
def test_a_report_of_100_000_queries_stays_small():
    found = report_many_queries()
    page = Page(found.html)
    assert len(found.html) < 5_000_000
    # Every third query is lost by old, every fifth by new: 20,000 and 33,334 of them, 6,667 by
    # both.
    assert len(page.rows("queries-lost")) == 10
    assert "13,323 more rows are left out." in page.text
    assert "26,657 more rows are left out." in page.text
    # Of 500 shops by two metrics all rows can be found, and 50 are shown.
    assert len(page.rows("comparison-group-0")) == 1000
    assert "50 of 1,000 rows" in page.text
    assert "Metrics by shop, the worst RR first (490 more are not drawn)" in page.text


@pytest.mark.slow
def test_a_stream_is_read_once():
    found = sqlrank.report(
        "Brier", predictions=CLICKS.to_reader(), columns={"score": "old"}, by="country"
    )
    assert len(Page(found.html).rows("group-0")) == 3


@pytest.mark.slow
def test_runs_without_names_are_called_as_their_results(tmp_path):
    for name, run in RUNS.items():
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        columns = dict(
            zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)
        )
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq3 0 a 2\n", "utf-8")
    files = [str(tmp_path / f"{name}.parquet") for name in RUNS]
    html = sqlrank.report(
        "RR",
        run=files,
        qrels=str(tmp_path / "qrels"),
        baseline="new",
        ties="doc_asc",
        where="run.score > 0",
    ).html
    page = Page(html)
    assert page.rows("queries-gained")[0][:3] == ["q1", "0.5000", "1.0000"]
    assert "run old" in page.text
    command = re.findall(r'data-text="([^"]*)"', html)[0]
    # Of the query that lost most, by the system that is compared.
    assert "RR of query q3 is 0.333333" in run_command(*shlex.split(unescape(command))[1:])


def test_it_is_saved_and_shown_in_notebooks(tmp_path, report_page):
    found = report_page
    assert found.save(tmp_path / "a.html").read_text("utf-8") == found.html
    found.save(tmp_path / "a.html")  # it is known again
    shown = found._repr_html_()
    assert shown.startswith('<iframe title="A &amp; B" sandbox="allow-scripts allow-downloads"')
    assert shown.count("<") == 2
    assert repr(found).startswith("<sqlrank report 'A & B', ")
    (tmp_path / "b.html").write_text("mine")
    with pytest.raises(
        sqlrank.SqlrankError,
        match=(
            r"b\.html': nothing in this file says that sqlrank wrote it. Replace it with"
            r" force=True, or name another file$"
        ),
    ):
        found.save(tmp_path / "b.html")
    with pytest.raises(
        sqlrank.SqlrankError, match=r"a report is a page of HTML. Name a file that ends in \.html"
    ):
        found.save(tmp_path / "a.pdf")


def test_it_says_what_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(
        sqlrank.SqlrankError,
        match=r"^a report needs jinja2. Run pip install 'altair<7' vl-convert-python jinja2$",
    ):
        report_rankings()


@pytest.mark.slow
def test_the_command_writes_a_page(tmp_path):
    pq.write_table(CLICKS, tmp_path / "p.parquet")
    target = tmp_path / "report.html"
    given = [
        "--predictions", str(tmp_path / "p.parquet"), "--column", "score=old", "--column",
        "score=new",
    ]  # fmt: skip
    done = invoke_command(
        "report", "AUC", *given, "--by", "country", "--created-at", "today", "-o", target
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"wrote {target}\n")
    page = Page(target.read_text("utf-8"))
    assert [row[0] for row in page.rows("comparison-table")] == ["AUC"]
    assert len(page.rows("group-0")) == 6


def test_the_command_says_what_is_wrong_before_it_works(tmp_path):
    assert "name the file to write with -o, such as -o report.html" in run_refused_command(
        "report --predictions nowhere.parquet"
    )
    assert "ends in .html" in run_refused_command(
        f"report --predictions nowhere.parquet -o {tmp_path}/a.pdf"
    )
    pq.write_table(CLICKS, tmp_path / "p.html")
    assert "is an input" in run_refused_command(
        f"report --predictions {tmp_path}/p.html -o {tmp_path}/p.html"
    )
