"""Answers, one row per query with lists of documents, have the values of the rows that their lists
are made of.
"""

import json
import re
from ast import literal_eval
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlrank
from sqlrank import InputError
from tests.interface.command_line import invoke_command, run_command, run_refused_command
from tests.numbers.properties.rankings import METRICS as RANKING_METRICS
from tests.numbers.properties.rankings import assert_equal
from tests.tables import build_table

METRICS = [
    "nDCG@10", "AP", "RR", "P@3", "R@2", "Rprec", "bpref", "Judged@5", "num_ret", "num_rel",
    "num_q", "num_no_rel", "num_duplicates",
]  # fmt: skip

QUESTIONS = [
    {"query_id": "q1", "retrieved": ["d3", "d1", "d2"], "relevant": ["d1"], "intent": "how"},
    {"query_id": "q2", "retrieved": ["d9", "d9", "d8"], "relevant": ["d8", "d7"], "intent": "how"},
    {"query_id": "q3", "retrieved": ["d5"], "relevant": [], "intent": "who"},
    {"query_id": "q4", "retrieved": [], "relevant": ["d4"], "intent": "who"},
]


def make_answers(questions: list[dict[str, Any]] = QUESTIONS) -> pa.Table:
    return pa.Table.from_pylist(questions)


def evaluate(
    metrics: Any = METRICS, questions: list[dict[str, Any]] = QUESTIONS, **options: Any
) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        metrics, inputs={"answers": make_answers(questions)}, **options
    ).to_pylist()


def evaluate_rows(
    questions: list[dict[str, Any]], metrics: Any = METRICS, **options: Any
) -> list[dict[str, Any]]:
    """Evaluate run and judgments whose rows are the elements of the lists."""
    attributes = [
        name
        for name in questions[0]
        if name not in {"query_id", "retrieved", "relevant", "scores", "grades"}
    ]
    run = [
        {
            "query_id": row["query_id"],
            "doc_id": doc,
            "score": row.get("scores", [-rank] * rank)[rank - 1],
            "rank": rank,
        }
        | {name: row[name] for name in attributes}
        for row in questions
        for rank, doc in enumerate(row["retrieved"] or [], 1)
    ]
    qrels = [
        {
            "query_id": row["query_id"],
            "doc_id": doc,
            "relevance": row.get("grades", [1] * (index + 1))[index],
        }
        for row in questions
        for index, doc in enumerate(row["relevant"] or [])
    ]
    queries = pa.table(
        {
            "query_id": [row["query_id"] for row in questions],
            **{name: [row[name] for row in questions] for name in attributes},
        }
    )
    policies = {"ties": "rank", "duplicates": "max", "topics": "given"} | options
    return sqlrank.evaluate(
        metrics,
        run=pa.Table.from_pylist(run),
        qrels=pa.Table.from_pylist(qrels),
        queries=queries,
        **policies,
    ).to_pylist()


def test_every_query_counts():
    expected = {
        "RR": 0.25,
        "R@10": 0.375,
        "P@2": 0.25,
        "num_q": 4.0,
        "num_no_rel": 1.0,
        "num_duplicates": 1.0,
        "num_ret": 6.0,
    }
    assert evaluate(list(expected)) == [expected]
    values = {row["query_id"]: row["RR"] for row in evaluate("RR", per_query=True)}
    assert values == {"q1": 0.5, "q2": 0.5, "q3": 0.0, "q4": 0.0}


def test_a_query_without_relevant_documents_is_left_to_the_policy():
    assert evaluate("nDCG@10", if_undefined="skip", where="intent = 'who'") == [{"nDCG@10": 0.0}]
    (row,) = evaluate(["nDCG@10", "num_no_rel"], if_undefined="one")
    assert row["nDCG@10"] == pytest.approx((0.6309297535714574 + 0.38685280723454163 + 1) / 4)
    assert row["num_no_rel"] == 1


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "options",
    [{}, {"per_query": True}, {"confidence": 0.9}, {"topics": "judged"}, {"topics": "retrieved"}],
)
def test_the_values_are_those_of_rows(options):
    questions = [
        {name: value for name, value in row.items() if name != "intent"} for row in QUESTIONS
    ]
    assert evaluate(questions=questions, **options) == [
        pytest.approx(row, nan_ok=True) for row in evaluate_rows(questions, **options)
    ]


@pytest.mark.slow
def test_other_columns_group_and_filter():
    groups = {
        intent: evaluate_rows([row for row in QUESTIONS if row["intent"] == intent])[0]
        for intent in ("how",)
    }
    how, who = evaluate(by="intent")
    assert how == pytest.approx({"intent": "how", **groups["how"]})
    assert (who["intent"], who["num_q"], who["num_no_rel"], who["RR"]) == ("who", 2, 1, 0)
    assert evaluate(where="intent = 'how'") == [pytest.approx(groups["how"])]


IDS = st.sampled_from(["a", "b", "c", "d", "e"])


@st.composite
def question_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 5))):
        retrieved, relevant = draw(st.lists(IDS, max_size=7)), draw(st.lists(IDS, max_size=5))
        rows.append(
            {
                "query_id": f"q{number}",
                "retrieved": draw(st.sampled_from([retrieved, retrieved or None])),
                "relevant": relevant,
            }
        )
        rows[-1]["scores"] = draw(
            st.lists(st.integers(-3, 3), min_size=len(retrieved), max_size=len(retrieved))
        )
        rows[-1]["grades"] = draw(
            st.lists(st.integers(0, 3), min_size=len(relevant), max_size=len(relevant))
        )
    first = rows[0]
    first |= {
        "retrieved": ["z", *(first["retrieved"] or [])],
        "relevant": ["z", *first["relevant"]],
    }
    return [
        (
            row | {"scores": [4, *row["scores"]], "grades": [1, *row["grades"]]}
            if row is first
            else row
        )
        for row in rows
    ]


@pytest.mark.slow
@given(question_lists(), st.sampled_from(["rank", "doc_desc", "expected"]))
@settings(max_examples=15, deadline=None)
def test_random_lists_have_the_values_of_rows(questions, ties):
    metrics = ["nDCG@3", "CG@3", "R@3", "P@2", "num_ret", "num_q", "num_no_rel", "num_duplicates"]
    found = evaluate(metrics, questions, ties=ties, per_query=True)
    assert found == [
        pytest.approx(row) for row in evaluate_rows(questions, metrics, ties=ties, per_query=True)
    ]
    assert all(0 <= row["R@3"] <= 1 for row in found)


@pytest.mark.slow
@given(
    question_lists(),
    st.lists(
        st.sampled_from([metric for metric in RANKING_METRICS if "ties=" not in metric]),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.sampled_from(
        [
            {},
            {"per_query": True},
            {"depth": 2},
            {"topics": "judged"},
            {"plan": {"list_key": "input"}},
        ]
    ),
)
@settings(max_examples=15, deadline=None)
def test_positions_in_lists_are_the_ranks_of_sorted_rows(questions, metrics, options):
    # Metrics such as num_dropped do not read depth, which is refused without one that does.
    requested = [*dict.fromkeys([*metrics, "RR"])] if "depth" in options else metrics
    values = [
        sqlrank.evaluate(
            requested,
            inputs={"answers": make_answers(questions)},
            **{**options, "plan": {**options.get("plan", {}), "rank_method": rank_method}},
        ).to_pydict()
        for rank_method in ("sort", "list_position")
    ]
    assert_equal(values[1], values[0])


def read_rank_method(result: pa.Table) -> str:
    """Return the plan that the header of a result's statement names."""
    return (
        result.schema.metadata[b"sqlrank.sql"].decode().partition("rank_method=")[2].split(";")[0]
    )


@pytest.mark.slow
def test_documents_are_looked_up_in_lists_where_that_is_right_and_fast():
    """Repeated documents are searched for among the first k alone; nothing is looked up in lists of
    converted ids, or for many judgments.
    """
    inputs = {"answers": make_answers()}
    at_five, whole = (sqlrank.evaluate(metric, inputs=inputs) for metric in ("R@5", "AP"))
    assert read_rank_method(at_five) == read_rank_method(whole) == "list_position"
    assert b"LIST_SELECT(" in at_five.schema.metadata[b"sqlrank.sql"]
    assert b"LIST_SELECT(" not in whole.schema.metadata[b"sqlrank.sql"]
    assert all(
        b"LIST_COUNT(" in result.schema.metadata[b"sqlrank.sql"] for result in (at_five, whole)
    )
    assert "rank_method=list_position; alternative: rank_method=sort, if hundreds" in sqlrank.sql(
        "AP", inputs={"answers": "a"}
    )
    assert "rank_method=sort" in sqlrank.sql("AP", inputs={"answers": "a"}, dialect="bigquery")
    scored = make_answers(
        [row | {"scores": list(range(len(row["retrieved"])))} for row in QUESTIONS]
    )
    many = make_answers(
        [row | {"relevant": [f"d{number}" for number in range(51)]} for row in QUESTIONS]
    )
    connection = duckdb.connect()
    connection.sql(
        "CREATE TABLE uuids AS SELECT 1 AS query_id, [UUID '00000000-0000-4000-8000-000000000001']"
        " AS retrieved, retrieved::VARCHAR[] AS relevant"
    )
    for table, options in (
        (scored, {"ties": "doc_desc"}),
        (make_answers(), {"unjudged": "drop"}),
        (many, {}),
        (many, {"check": "off"}),
        ("uuids", {"connection": connection}),
    ):
        assert (
            read_rank_method(sqlrank.evaluate("RR", inputs={"answers": table}, **options)) == "sort"
        )


@pytest.mark.parametrize("repeated", [0, 3])
def test_ranks_in_long_lists_skip_repeated_documents(repeated):
    documents = [f"d{number}" for number in range(300)]
    questions = [
        {
            "query_id": "q1",
            "retrieved": documents[:repeated] + documents,
            "relevant": ["d299", "d1"],
        }
    ]
    assert evaluate(["RR", "AP", "num_ret"], questions) == [
        {"RR": 0.5, "AP": pytest.approx((1 / 2 + 2 / 300) / 2), "num_ret": 300.0}
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"per_query": True},
        {"by": "intent"},
        {"confidence": 0.9},
        {"topics": "judged"},
        {"ties": "doc_desc"},
    ],
)
def test_ids_that_are_null_are_found_in_every_list(options):
    unjudged = [
        row | {"retrieved": ["d5", None]} if row["query_id"] == "q3" else row for row in QUESTIONS
    ]
    assert "answers.retrieved (Table): 1 row: doc_id is NULL" in find_refusal(unjudged, **options)
    both = find_refusal(
        [row | {"relevant": ["d1", None]} if row["query_id"] == "q1" else row for row in unjudged],
        **options,
    )
    assert [line.partition(": doc_id")[0] for line in both.splitlines() if "is NULL" in line] == [
        f"answers.{name} (Table): 1 row" for name in ("retrieved", "relevant")
    ]
    assert evaluate("RR", unjudged, check="off", **options)


@pytest.mark.slow
def test_an_explanation_names_the_document_at_each_rank():
    found = sqlrank.explain("RR", query="q2", inputs={"answers": make_answers()})
    (ranked,) = (step.rows for step in found.steps if step.name == "ranked_documents")
    assert (found.value, ranked["doc_id"].to_pylist(), ranked["rank"].to_pylist()) == (
        0.5,
        ["d9", "d8"],
        [1, 2],
    )


@pytest.mark.slow
def test_several_systems_are_compared_by_query():
    better = [row | {"retrieved": row["relevant"]} for row in QUESTIONS]
    systems = {"answers": {"old": make_answers(), "new": make_answers(better)}}
    found = sqlrank.evaluate("R@5", inputs=systems).to_pylist()
    assert [(row["system"], row["R@5"]) for row in found] == [("new", 0.75), ("old", 0.375)]
    (row,) = sqlrank.compare("R@5", inputs=systems).to_pylist()
    assert (row["baseline"], row["system"], row["difference"], row["n_units"], row["wins"]) == (
        "old", "new", 0.375, 4, 2,
    )  # fmt: skip
    stacked = pa.concat_tables(
        [make_answers().append_column("system", pa.array([name] * 4)) for name in "ab"]
    )
    (row,) = sqlrank.compare("R@5", inputs={"answers": stacked}, system="system").to_pylist()
    assert (row["value"], row["ties"]) == (0.375, 4)


@pytest.mark.slow
def test_a_report_compares_systems():
    better = [row | {"retrieved": row["relevant"]} for row in QUESTIONS]
    stacked = [
        row | {"system": name}
        for name, rows in (("old", QUESTIONS), ("new", better))
        for row in rows
    ]
    for inputs, system in (
        ({"answers": {"old": QUESTIONS, "new": better}}, None),
        ({"answers": stacked}, "system"),
    ):
        html = sqlrank.report(
            "RR", inputs=inputs, system=system, baseline="old", created_at="today"
        ).html
        assert "Systems compared" in html
        assert "Query q1, which gained 0.5000 of RR" in html


@pytest.mark.slow
def test_the_command_line_reads_json_lines(tmp_path):
    path = tmp_path / "eval.jsonl"
    renamed = [
        {
            "query_id": row["query_id"],
            "retrieved_ids": row["retrieved"],
            "gold_ids": row["relevant"],
        }
        for row in QUESTIONS
    ]
    path.write_text("\n".join(map(json.dumps, renamed)))
    columns = [
        "--column",
        "answers.retrieved=retrieved_ids",
        "--column",
        "answers.relevant=gold_ids",
    ]
    table = run_command(
        "evaluate", "nDCG@10", "R@5", "num_no_rel", "--input", f"answers={path}", *columns
    )
    assert table.split() == ["nDCG@10", "R@5", "num_no_rel", "0.2544", "0.3750", "1"]
    options = [
        *columns,
        "--tolerance",
        "0.01",
        "--min-units",
        "2",
        "--input",
        f"answers=old={path}",
        "--input",
        f"answers=new={path}",
    ]
    assert "verdict: pass" in run_command("gate", "nDCG@10", "R@5", *options)
    assert "-- made by: sqlrank sql RR --input answers=old=a --input answers=new=b" in run_command(
        "sql RR --input answers=old=a --input answers=new=b"
    )
    assert "write --input answers=name=source" in run_refused_command("sql RR --input answers==b")
    assert "nDCG@10 of query q2 is 0.386853" in run_command(
        "explain", "nDCG@10", "--query", "q2", "--input", f"answers={path}", *columns
    )
    report = tmp_path / "report.html"
    assert (
        invoke_command(
            "report", "nDCG@10", "--input", f"answers={path}", *columns, "-o", report
        ).exit_code
        == 0
    )
    assert report.stat().st_size > 0


def lines(*rows: dict[str, Any]) -> str:
    return "\n".join(
        json.dumps({"query_id": f"q{number}", **row}) for number, row in enumerate(rows)
    )


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("rows", "gains"),
    [
        (
            [
                {"retrieved": ["a", "b"], "relevant": {"a": 2, "c": 1}},
                {"retrieved": [], "relevant": {"z": 1}},
            ],
            [2, 0],
        ),
        (
            [
                {"retrieved": ["a", "b"], "relevant": {"a": "2", "c": "1"}},
                {"retrieved": ["z"], "relevant": {}},
            ],
            [2, 0],
        ),
        (
            [
                {"retrieved": ["a", "b"], "relevant": {"a": 2}},
                {"retrieved": ["z"], "relevant": ["z", "y"]},
            ],
            [2, 1],
        ),
        (
            [
                {"retrieved": ["a", "b"], "relevant": [{"doc_id": "b", "relevance": 2}]},
                {"retrieved": ["z"], "relevant": []},
            ],
            [2, 0],
        ),
        (
            [
                {"retrieved": [1, 2], "relevant": [{"doc_id": 1, "relevance": "3"}]},
                {"retrieved": [3], "relevant": None},
            ],
            [3, 0],
        ),
        (
            [
                {
                    "retrieved": [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.7}],
                    "relevant": [{"id": "b", "meta": {}}],
                }
            ],
            [1],
        ),
        (
            [{"retrieved": [1, "b"], "relevant": ["b"]}, {"retrieved": [3], "relevant": None}],
            [1, 0],
        ),
        ([{"retrieved": [1], "relevant": [1]}, {"retrieved": [], "relevant": []}], [1, 0]),
        (
            [
                {"retrieved": ["a"], "relevant": ["a"], "grades": ["2"]},
                {"retrieved": ["b"], "relevant": ["c"], "grades": ["1"]},
            ],
            [2, 0],
        ),
        (
            [
                {"retrieved": ["a"], "relevant": ["a"], "grades": [0.5]},
                {"retrieved": ["b"], "relevant": ["c"], "grades": None},
            ],
            [0.5, 0],
        ),
    ],
)
def test_grades_are_read_from_what_json_holds(tmp_path, rows, gains):
    path = tmp_path / "eval.jsonl"
    path.write_text(lines(*rows))
    assert (
        sqlrank.evaluate("CG@5", inputs={"answers": path}, per_query=True)["CG@5"].to_pylist()
        == gains
    )


def test_lists_may_be_fields_of_objects(tmp_path):
    path = tmp_path / "eval.jsonl"
    path.write_text(
        '{"query_id": 1, "found": {"top": {"ids": ["b", "a"]}}, "gold": {"ids": ["a"]}}\n'
    )
    names = {"retrieved": "found.top.ids", "relevant": "gold.ids"}
    assert sqlrank.evaluate("RR", inputs={"answers": path}, columns=names).to_pylist() == [
        {"RR": 0.5}
    ]
    with pytest.raises(InputError, match=r"columns maps to 'query_id.ids', which no input has"):
        sqlrank.evaluate(
            "RR", inputs={"answers": path}, columns=names | {"relevant": "query_id.ids"}
        )


@pytest.mark.slow
def test_ids_and_grades_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "eval.jsonl"

    def problem(*rows):
        path.write_text(lines(*rows))
        return run_refused_command(f"evaluate RR --input answers={path}")

    for grade in ("high", True):
        assert "1 row: relevance is NULL, or no number." in problem(
            {"retrieved": ["a"], "relevant": {"a": grade, "b": "1"}}
        )
    assert (
        "answers.retrieved is VARCHAR, answers.relevant is BIGINT: no number is one of the texts"
        in problem({"retrieved": [1, "b"], "relevant": [2]})
    )
    assert "retrieved is NULL or an empty list in every row" in problem(
        {"retrieved": [], "relevant": [1]}, {"retrieved": None, "relevant": [2]}
    )
    assert "relevant is NULL or an empty list in every row" in problem(
        {"retrieved": [1], "relevant": []}
    )
    assert "Cast the numbers, such as --column retrieved='CAST(retrieved AS VARCHAR[])'" in problem(
        {"retrieved": [1], "relevant": ["x"]}
    )
    assert (
        "retrieved is '\"b\"' in a row, which is no list. Write it as a list of one element"
        in problem({"retrieved": ["a"], "relevant": ["a"]}, {"retrieved": "b", "relevant": ["b"]})
    )
    assert (
        "1 row: grades and relevant have different lengths. Give each document one grade"
        in problem({"retrieved": ["a"], "relevant": ["a"], "grades": [1, 2]})
    )
    assert (
        "1 row: scores and retrieved have different lengths. Give each document one score"
        in problem({"retrieved": ["a", "b"], "scores": [0.5], "relevant": ["a"]})
    )


@pytest.mark.slow
def test_maps_and_texts_of_tables():
    graded = pa.array([[("d2", 2), ("d4", 1)]], pa.map_(pa.string(), pa.int64()))
    table = build_table(query_id="q1", retrieved=[["d1", "d2"]], relevant=graded)
    assert sqlrank.evaluate(["CG@5", "R@5"], inputs={"answers": table}).to_pylist() == [
        {"CG@5": 2.0, "R@5": 0.5}
    ]
    texts = build_table(query_id="q1", retrieved=['["d1", "d2"]'], relevant='["d2"]')
    advice = (
        "cast a text such as '[\"a\", \"b\"]': columns={'retrieved': 'CAST(retrieved AS"
        " VARCHAR[])'}"
    )
    assert advice in find_refusal(texts)
    columns = {
        "retrieved": "CAST(retrieved AS VARCHAR[])",
        "relevant": "CAST(relevant AS VARCHAR[])",
    }
    assert sqlrank.evaluate("RR", inputs={"answers": texts}, columns=columns).to_pylist() == [
        {"RR": 0.5}
    ]


def test_a_table_of_a_database():
    connection = duckdb.connect()
    connection.sql(
        "CREATE TABLE eval AS SELECT * FROM (VALUES (1, [10, 20], [20]), (2, NULL, [30]), (3, [],"
        " []))t(query_id, retrieved, relevant)"
    )
    assert sqlrank.evaluate(
        ["RR", "num_q"], inputs={"answers": "eval"}, connection=connection
    ).to_pylist() == [{"RR": 0.5 / 3, "num_q": 3.0}]


def find_refusal(
    questions: list[dict[str, Any]] | pa.Table, metrics: Any = "RR", **options: Any
) -> str:
    table = questions if isinstance(questions, pa.Table) else make_answers(questions)
    with pytest.raises(InputError) as error:
        sqlrank.evaluate(metrics, inputs={"answers": table}, **options)
    return str(error.value)


@pytest.mark.parametrize("separator", [", ", ",", " ,", " | ", "|", "; ", ";"])
def test_advised_splits_leave_out_blanks_around_separators(separator):
    """The first text has no blanks, or those of the others: all are split alike."""
    lists = [(["d1", "d2", "d 3"], ["d2"]), (["d4", "d5"], ["d9", "d5"]), (["d6", "d7"], ["d7"])]
    texts = [
        {
            "query_id": number,
            "retrieved": (separator if number else separator.strip()).join(retrieved),
            "relevant": separator.join([*relevant, "other"]),
        }
        for number, (retrieved, relevant) in enumerate(lists)
    ]
    with pytest.raises(InputError) as error:
        sqlrank.evaluate("R@2", inputs={"answers": texts})
    advised = re.findall(r"columns=(\{.*\})", str(error.value))
    columns = {name: text for mapping in advised for name, text in literal_eval(mapping).items()}
    expected = (1 / 2 + 1 / 3 + 1 / 2) / 3
    found = sqlrank.evaluate("R@2", inputs={"answers": texts}, columns=columns)
    assert found["R@2"].to_pylist() == [pytest.approx(expected)]


@pytest.mark.slow
def test_what_cannot_be_evaluated_is_named():
    assert (
        "query_id is listed more than once. Name the column that tells systems apart in by=, or"
        " keep" in find_refusal(QUESTIONS * 2)
    )
    assert "answers.retrieved (Table): 1 row: doc_id is NULL" in find_refusal(
        [QUESTIONS[0] | {"retrieved": ["d1", None]}]
    )
    assert (
        "answers.retrieved is BIGINT, answers.relevant is VARCHAR: no number is one of the texts"
        in find_refusal([row | {"retrieved": [1, 2]} for row in QUESTIONS])
    )
    assert "answers (Table): retrieved is NULL or an empty list in every row" in find_refusal(
        [row | {"retrieved": []} for row in QUESTIONS]
    )
    empty = pa.array([[]] * 4, pa.list_(pa.string()))
    assert "answers.retrieved (Table) has no rows" in find_refusal(
        make_answers().set_column(1, "retrieved", empty)
    )
    assert (
        "answers (Table): retrieved is VARCHAR, not a list. Map a column of lists to retrieved"
        in find_refusal([row | {"retrieved": "d1"} for row in QUESTIONS])
    )
    assert (
        "split what commas separate by columns={'retrieved': \"STR_SPLIT(retrieved, ', ')\"}"
        in find_refusal([row | {"retrieved": "d1, d2"} for row in QUESTIONS])
    )
    assert "never match. Take one field: columns={'retrieved': 'retrieved.chunk'}" in find_refusal(
        [row | {"retrieved": [{"chunk": "d1"}]} for row in QUESTIONS]
    )
    assert "answers.retrieved and answers.relevant have no doc_id in common" in find_refusal(
        [QUESTIONS[0] | {"retrieved": ["x"]}]
    )
    assert "answers (Table): no column 'relevant'" in find_refusal(
        make_answers().drop_columns("relevant")
    )
    assert (
        "give either answers, which hold the retrieved documents of each query, or run"
        in find_refusal(QUESTIONS, run="run")
    )


@pytest.mark.slow
def test_a_query_without_documents_is_not_among_those_retrieved_for():
    assert evaluate("num_q", topics="retrieved") == [{"num_q": 3.0}]
    assert evaluate("num_q", topics="judged") == [{"num_q": 3.0}]
    assert evaluate("num_q", topics="judged_and_retrieved") == [{"num_q": 2.0}]


def test_lists_without_common_rows_are_worth_nothing():
    assert evaluate(["RR", "num_q"], where="intent = 'who'") == [{"RR": 0.0, "num_q": 2.0}]


def test_judgments_may_be_in_a_table_of_their_own():
    table = make_answers().drop_columns("relevant")
    qrels = {"q1": {"d1": 2}, "q2": {"d8": 1, "d7": 1}, "q4": {"d4": 1}}
    assert sqlrank.evaluate(
        ["RR", "num_q"], inputs={"answers": table}, qrels=qrels
    ).to_pylist() == [{"RR": 0.25, "num_q": 4.0}]
    assert sqlrank.evaluate("num_shown@2", inputs={"answers": table}).to_pylist() == [
        {"num_shown@2": 5.0}
    ]


@pytest.mark.slow
def test_rollups_have_the_lists_of_answers(tmp_path):
    """They are read with the defaults of answers: the position is the rank, and every question
    counts.
    """
    questions = [
        {**row, "day": number % 2, "latency_ms": 10.0 * number}
        for number, row in enumerate(QUESTIONS)
    ]
    metrics = ["nDCG@10", "RR", "num_q", "num_no_rel", "Mean(latency_ms)"]
    rollup = sqlrank.rollup(
        metrics, inputs={"answers": make_answers(questions)}, by=["day", "intent"]
    )
    for by in ((), "intent", "day"):
        expected = evaluate(metrics, questions, by=by)
        rows = (
            sqlrank.evaluate(metrics, rollup=rollup, by=by)
            .select([*([by] if by else []), *metrics])
            .to_pylist()
        )
        assert rows == [pytest.approx(row) for row in expected]
    file = tmp_path / "eval.jsonl"
    file.write_text("\n".join(map(json.dumps, questions)), "utf-8")
    run_command(
        "rollup",
        *metrics,
        "--input",
        f"answers={file}",
        "--by",
        "day",
        "-o",
        tmp_path / "rollup.parquet",
    )
    text = run_command(
        "evaluate", *metrics, "--rollup", tmp_path / "rollup.parquet", "--format", "json"
    )
    (row,) = json.loads(text)
    assert {name: row[name] for name in metrics} == pytest.approx(evaluate(metrics, questions)[0])
    statement = sqlrank.rollup_sql(
        metrics, inputs={"answers": "evals"}, by="day", create_table="daily"
    )
    with duckdb.connect() as connection:
        connection.register("evals", make_answers(questions))
        connection.execute(statement)
        (row,) = (
            sqlrank.evaluate(metrics, rollup="daily", connection=connection)
            .select(metrics)
            .to_pylist()
        )
    assert row == pytest.approx(evaluate(metrics, questions)[0])


def test_dbt_models_read_answers():
    model = sqlrank.dbt_model(
        ["nDCG@10", "Mean(latency_ms)"], "questions", inputs={"answers": "evals"}, by="intent"
    )
    assert "FROM {{ ref('evals') }}" in model.sql


def test_a_comparison_notes_questions_of_one_system(tmp_path):
    for name, rows in (("old", QUESTIONS), ("few", QUESTIONS[:-1])):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    sources = [
        word
        for name in ("old", "few")
        for word in ("--input", f"answers={name}={tmp_path / name}.jsonl")
    ]
    found = invoke_command("compare", "RR", *sources)
    assert found.stderr.splitlines() == [
        (
            "note: some queries count as 0 in RR (undefined: a query without relevant documents)"
            " (system=few: 1 of 3, system=old: 1 of 4)"
        ),
        "note: some queries have no results, and count as empty lists (system=old: 1 of 4)",
        ("note: rows that repeat a document of their query, which are merged: 2 (each system: 1)"),
        "note: 1 of 4 queries have a value for one of two systems only. Comparisons leave them out",
    ]
