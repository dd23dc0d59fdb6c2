"""The CTEs of a statement: their names, order, comments and materialization."""

from sqlglot import exp, parse_one

from sqlrank.compiler.layout import GroupColumn, GroupingLayout
from sqlrank.compiler.relation_ctes import CteList
from sqlrank.compiler.row_keys import GROUP_ID, LIST_ID, KeyColumns


def _parse_select(text: str) -> exp.Select:
    query = parse_one(text)
    assert isinstance(query, exp.Select)
    return query


def test_relations_come_before_aggregates_that_were_added_earlier():
    ctes = CteList(GroupingLayout((GroupColumn("system", "system", "system"),)))
    ctes.add(
        "run",
        _parse_select("SELECT system FROM t"),
        "one row per document",
        {GROUP_ID: KeyColumns(("system",))},
        materialize=False,
    )
    ctes.add_aggregate(
        "run_metrics",
        _parse_select("SELECT system FROM run"),
        "one row per group",
        KeyColumns(("system",)),
    )
    ctes.add(
        "gains",
        _parse_select("SELECT system FROM run"),
        "one row per list",
        {LIST_ID: KeyColumns((LIST_ID,))},
        "gains.sql",
    )
    statement = ctes.write_before(
        _parse_select("SELECT a.system FROM run_metrics AS a CROSS JOIN gains CROSS JOIN run"),
        keep_unused=True,
    )
    assert (
        [cte.name for cte in ctes]
        == [cte.alias for cte in statement.ctes]
        == ["run", "gains", "run_metrics"]
    )
    assert [cte.comment for cte in ctes] == [
        "One row per document.",
        "One row per system and query. (gains.sql)",
        "One row per system.",
    ]
    assert [cte.args["materialized"] for cte in statement.ctes] == [False, None, None]


def test_names_are_those_of_no_other_cte_and_of_no_table_of_the_user():
    ctes = CteList(GroupingLayout(()), {"scores"})
    names = [
        ctes.add(name, _parse_select("SELECT 1 AS x"), "one row", {}) for name in ("scores", "bins")
    ]
    names.append(ctes.add_aggregate("bins", _parse_select("SELECT 1 AS x"), "one row"))
    names.append(ctes.add("bins_2", _parse_select("SELECT 1 AS x"), "one row", {}))
    assert names == ["scores_2", "bins", "bins_2", "bins_2_2"]


def test_only_lists_at_cutoffs_are_described_by_their_cutoff():
    ctes = CteList(GroupingLayout((GroupColumn("system", "system", "system"),)))
    ctes.result_key = KeyColumns(("system",)).with_cutoff()
    lists = KeyColumns((LIST_ID,))
    names = [
        ctes.add_aggregate(
            "metrics", _parse_select("SELECT list_id FROM t"), "one row per group", key
        )
        for key in (lists, lists.with_cutoff(), None)
    ]
    assert [ctes[name].comment for name in names] == [
        "One row per system and query.",
        "One row per system, query and cut-off.",
        "One row per system and cut-off.",
    ]


def test_unused_columns_and_ctes_are_pruned_and_inputs_stay():
    ctes = CteList(GroupingLayout(()))
    ctes.add(
        "run",
        _parse_select("SELECT score, doc FROM t"),
        "one row per document",
        {},
        materialize=False,
    )
    ctes.add("forwarded", _parse_select("SELECT score FROM run"), "one row per document", {})
    ctes.add("unused", _parse_select("SELECT score FROM run"), "one row per document", {})
    statement = ctes.write_before(_parse_select("SELECT SUM(score) AS total FROM forwarded"))
    assert [(cte.alias, cte.this.named_selects) for cte in statement.ctes] == [
        ("run", ["score"]),
        ("forwarded", ["score"]),
    ]
