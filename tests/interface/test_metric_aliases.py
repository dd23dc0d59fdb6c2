"""Metrics under the names that other tools give them, lists of cut-offs, and the search for a
word.
"""

import json

import duckdb
import pyarrow.parquet as pq
import pytest
import sqlglot

import sqlrank
from sqlrank import MetricError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import read_toml, sql_root
from tests.interface.calls import GOOD_QRELS, GOOD_RUN, read_canonical
from tests.interface.command_line import run_command, run_refused_command
from tests.tables import build_table, read_columns

NAMES = read_toml(sql_root() / "settings" / "names.toml")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("MAP", "AP"),
        ("map@10", "AP@10"),
        ("MAP(rel=2)@10", "AP(rel=2)@10"),
        ("MRR", "RR"),
        ("HR@10", "Success@10"),
        ("HitRate@5", "Success@5"),
        ("hit_rate@5", "Success@5"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_burges@3", "nDCG(gain=exp2)@3"),
        ("Precision@10", "P@10"),
        ("Recall@10", "R@10"),
        ("Precision", "Precision"),
        ("Recall", "Recall"),
        ("F1@5", "F@5"),
        ("Hole@10", "Unj@10"),
        ("R_cap@5", "R(denominator=min_rk)@5"),
        ("RCap@5", "R(denominator=min_rk)@5"),
        ("F1", "FBeta"),
        ("ROC-AUC", "AUC"),
        ("roc_auc", "AUC"),
        ("AUROC", "AUC"),
        ("logloss", "LogLoss"),
        ("log-loss", "LogLoss"),
        ("log_loss", "LogLoss"),
        ("nll", "LogLoss"),
        ("num-q", "num_q"),
        ("AUC@5", "AUC@5"),
        ("Lift@0.1", "Lift@0.1"),
        ("rmsle", "RMSLE"),
        ("mean_squared_log_error", "MSLE"),
        ("median_absolute_error", "MedianAbsoluteError"),
        ("max_error", "MaxError"),
        ("jaccard_score", "Jaccard"),
        ("zero_one_loss", "ZeroOneLoss"),
        ("binary_logloss", "LogLoss"),
        ("ks_statistic", "KS"),
        ("gini_normalized", "Gini"),
        ("NCRR@5", "RHR(normalization=ideal)@5"),
    ],
)
def test_names_of_other_tools(theirs, ours):
    assert str(sqlrank.parse(theirs)) == ours


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg@5-", "nDCG(if_undefined=zero)@5"),  # XGBoost
        ("map-", "AP(if_undefined=zero)"),
        ("mrr@10-", "RR@10"),
        ("P@5:", "P@5"),
        ("recip_rank@", "RR"),
        ("ndcg@5-10", "nDCG@5..10"),
        ("map@all", "AP"),
        ("eval_ndcg@5", "nDCG@5"),  # logs of training
        ("validation_0-auc", "AUC"),
        ("val/ndcg@5", "nDCG@5"),
        ("mean_ndcg@10", "nDCG@10"),
    ],
)
def test_names_in_other_notations_are_refused_with_ours(theirs, ours):
    with pytest.raises(MetricError) as caught:
        sqlrank.parse(theirs)
    assert str(caught.value) == f"unknown metric {theirs!r}. Write {ours}"
    assert str(sqlrank.parse(ours)) == ours


def test_every_alias_names_a_metric_and_no_metric_of_the_package():
    sections = {
        "aliases", "limits", "siblings", "ambiguous", "hints", "spellings", "curves", "options",
        "differences", "functions", "examples", "arguments", "columns",
    }  # fmt: skip
    assert NAMES.keys() == sections
    for theirs, ours in NAMES["aliases"].items():
        assert theirs == theirs.lower().replace("-", "").replace("_", "")
        name = theirs.removesuffix("@").replace(" ", "")
        cutoff = "@5" if theirs.endswith("@") else ""
        found = sqlrank.parse(name + cutoff)
        assert str(found) == ours + cutoff
        own = load_registry().metrics.get(name)
        assert own is None or (cutoff and own.cutoff_parameter is None)
        assert name not in NAMES["ambiguous"]


@pytest.mark.slow
def test_words_of_a_metric_lead_to_it():
    assert {"Lost", "SearchReduction"} <= {
        line.split()[0] for line in run_command("metrics", "stage").splitlines()
    }
    assert run_command("metrics", "elbow").startswith("-- Elbow: ")
    for family in ("off_policy", "records", "rankings"):
        rows = sqlrank.metrics(search=family).to_pylist()
        assert {
            row["name"] for row in sqlrank.metrics().to_pylist() if row["family"] == family
        } <= {row["name"] for row in rows}
    assert {line.split()[0] for line in run_command("metrics", "interleaving").splitlines()} == {
        "name",
        "num_won_by_a",
        "num_won_by_b",
        "Preference",
    }
    assert not NAMES["hints"].keys() & {name.lower() for name in load_registry().metric_names}


def test_names_that_mean_different_things_are_refused_with_the_choices():
    for name in NAMES["ambiguous"]:
        with pytest.raises(
            MetricError, match=r"means different things in different tools. Say which: "
        ):
            sqlrank.parse(name.replace("@", "@5"))
    assert (
        "hits means different things in different tools. Say which: Success is"
        in run_refused_command("evaluate hits --run r --qrels q")
    )


def test_an_alias_of_a_mode_is_suggested_with_the_mode():
    assert str(sqlrank.parse("roc_auc_score")) == "AUC"


def test_the_result_has_the_requested_names(run, qrels):
    """Two names are two columns; one name in two spellings is one column, as it was written
    first.
    """
    result = sqlrank.evaluate(
        ["MRR", "hr@1", "RR", "mrr", "ndcg@1", "nDCG@1", " P( rel=1 )@1"], run=run, qrels=qrels
    )
    assert result.to_pylist() == [
        {"MRR": 0.75, "RR": 0.75, "hr@1": 0.5, "ndcg@1": 0.5, "P( rel=1 )@1": 0.5}
    ]
    assert read_canonical(result) == {
        "MRR": "RR",
        "hr@1": "Success@1",
        "ndcg@1": "nDCG@1",
        "P( rel=1 )@1": "P(rel=1)@1",
    }
    measures = json.loads(result.schema.metadata[b"sqlrank.measures"])
    assert measures["MRR"] == measures["RR"]
    assert b"sqlrank.canonical" not in sqlrank.evaluate("RR", run=run, qrels=qrels).schema.metadata


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options",
    [{"confidence": 0.9}, {"confidence": 0.9, "interval": "bootstrap"}, {"per_query": True}],
)
def test_two_names_have_the_same_columns(run, qrels, options):
    result = sqlrank.evaluate(["MRR", "P@1", "RR"], run=run, qrels=qrels, **options)
    columns = [name for name in result.column_names if name.partition(".")[0] == "RR"]
    assert len(columns) == (5 if "confidence" in options else 1)
    for name in columns:
        assert result[name] == result[f"M{name}"]
    assert result["P@1"] == sqlrank.evaluate("P@1", run=run, qrels=qrels, **options)["P@1"]


@pytest.mark.slow
def test_every_surface_has_names_as_they_were_written(run, qrels):
    systems = {"run": {"a": run, "b": run}, "qrels": qrels}
    for result in (
        sqlrank.compare("ndcg@1", **systems),
        sqlrank.gate("ndcg@1", **systems, tolerance={"nDCG@1": 0.1}, min_units=1),
    ):
        assert result["metric"].to_pylist() == ["ndcg@1"]
        assert read_canonical(result) == {"ndcg@1": "nDCG@1"}
    assert sqlrank.evaluate(
        "auc", predictions={"label": [1, 0], "score": [0.9, 0.1]}, names="plain"
    ).column_names == ["auc"]
    assert sqlrank.sql("NDCG@1", run="runs", qrels="judged").count("AS ndcg_at_1") >= 1, (
        "in SQL names have no case"
    )
    model = sqlrank.dbt_model(["AuC", "meanpopularity@5"][:1], "daily", predictions="clicks")
    assert [column["name"] for column in model.schema["models"][0]["columns"]] == ["auc"]


def test_names_of_a_mode_are_columns(run, qrels):
    result = sqlrank.evaluate(
        ["map", "iprec_at_recall_0.10", "Rprec"], run=run, qrels=qrels, compat="trec10"
    )
    assert result.column_names == ["map", "iprec_at_recall_0.10", "Rprec"]
    assert read_canonical(result) == {"map": "AP", "iprec_at_recall_0.10": "IPrec@0.1"}


def test_columns_in_sql_are_requested_names_in_snake_case():
    """The value is computed once; a name that is a column of ``by`` gets a number."""

    def columns(metrics, **options):
        text = sqlrank.sql(metrics, run="run", qrels="qrels", **options)
        return sqlglot.parse_one(text, read="duckdb").named_selects, text

    names, text = columns(["MRR(rel=2)@10", "HitRate@10", "RR(rel=2)@10"])
    assert names == ["mrr_rel_2_at_10", "rr_rel_2_at_10", "hit_rate_at_10"]
    assert text.count("-- RR: ") == 1
    assert columns(["Recall@5"], confidence=0.9)[0] == [
        f"recall_at_5{end}" for end in ("", "_ci_low", "_ci_high", "_se", "_n_units")
    ]
    assert columns(["iprec_at_recall_0.10"], compat="trec10")[0] == ["iprec_at_recall_0_10"]
    model = sqlrank.dbt_model("AUROC", name="model", predictions="clicks")
    assert model.schema["models"][0]["columns"][0]["name"] == "auroc"


@pytest.mark.slow
def test_comparisons_have_the_requested_names(run, qrels):
    sources = {"run": {"old": run, "new": run}, "qrels": qrels}
    compared = sqlrank.compare(["MRR", "P@1", "RR"], **sources)
    assert compared["metric"].to_pylist() == ["MRR", "RR", "P@1"]
    assert compared["correction"].to_pylist() == ["holm"] * 3
    assert read_canonical(compared) == {"MRR": "RR"}
    assert json.loads(compared.schema.metadata[b"sqlrank.measures"]).keys() == {"MRR", "RR", "P@1"}
    pairs = sqlrank.compare("MRR", per_query=True, **sources)
    assert set(pairs["metric"].to_pylist()) == {"MRR"}
    gated = sqlrank.gate(
        ["MRR", "HitRate@1"], tolerance={"MRR": 0.1, "*": 0.2}, **sources
    ).to_pylist()
    assert [(row["metric"], row["tolerance"]) for row in gated] == [
        ("MRR", "0.1"),
        ("HitRate@1", "0.2"),
    ]


@pytest.mark.slow
def test_stored_baselines_match_by_the_canonical_metric():
    qrels = {f"q{number}": {"a": 1} for number in range(30)}
    run = {query: {"a": 1.0, "b": 0.5} for query in qrels}
    for stored, requested in (
        ("MRR", "RR"),
        ("RR", "MRR"),
        ("recip_rank", "MRR"),
        (["MRR", "RR"], "mean-reciprocal-rank"),
    ):
        compat = {"compat": "trec9", "queries": "judged"}
        baseline = sqlrank.evaluate(stored, run=run, qrels=qrels, per_query=True, **compat)
        (row,) = sqlrank.gate(
            requested, run=run, qrels=qrels, baseline=baseline, **compat
        ).to_pylist()
        assert (row["metric"], row["verdict"]) == (requested, "pass")


@pytest.mark.slow
def test_rollups_have_the_requested_names():
    clicks = build_table(day="1 1 2 2", label="1 0 1 0", score="0.75 0.25 0.25 0.75")
    rollup = sqlrank.rollup(["ROC-AUC", "bce"], predictions=clicks, by="day")
    result = sqlrank.evaluate(["AUROC", "bce", "AUC"], rollup=rollup)
    bounds = ["", ".bound_low", ".bound_high"]
    assert result.column_names == [
        *(f"AUROC{end}" for end in bounds),
        *(f"AUC{end}" for end in bounds),
        "bce",
        "num_days",
        "num_rows",
    ]
    assert read_canonical(result) == {"AUROC": "AUC", "bce": "LogLoss"}
    connection = duckdb.connect()
    connection.register("sums", rollup)
    text = sqlrank.sql(["AUROC", "bce", "AUC"], rollup="sums", connection=connection)
    in_sql = connection.sql(text).to_arrow_table()
    ends = ["", "_bound_low", "_bound_high"]
    assert in_sql.column_names == [
        *(f"auroc{end}" for end in ends),
        *(f"auc{end}" for end in ends),
        "bce",
        "num_days",
        "num_rows",
    ]
    assert [list(row.values()) for row in in_sql.to_pylist()] == [
        pytest.approx(list(row.values())) for row in result.to_pylist()
    ]
    days = {"reference": "day = 1", "current": "day = 2"}
    drifted = sqlrank.drift(
        ["AUROC", "bce"], rollup=rollup, tolerance={"AUROC": 0.1, "bce": 9}, **days
    )
    assert {row["metric"]: row["verdict"] for row in drifted.to_pylist()} == {
        "AUROC": "fail",
        "bce": "pass",
        "PSI": None,
    }
    compared = sqlrank.compare("AUROC", rollups={"old": rollup, "new": rollup}, confidence=None)
    assert compared["metric"].to_pylist() == ["AUROC"]
    assert read_canonical(compared) == {"AUROC": "AUC"}


def test_the_command_line_knows_requested_names(tmp_path, run, qrels):
    """Counts are integers, and ``--sort`` takes either name."""
    runs = tmp_path / "run.parquet", tmp_path / "qrels.parquet"
    for table, path in zip((run, qrels), runs, strict=True):
        pq.write_table(table, path)
    arguments = ["--run", str(runs[0]), "--qrels", str(runs[1])]
    assert run_command("evaluate", "AggregateDiversity@2", "MRR", *arguments).split()[:2] == [
        "AggregateDiversity@2",
        "MRR",
    ]
    assert "." not in run_command("evaluate", "AggregateDiversity@2", *arguments).splitlines()[1]
    by_query = run_command(
        "evaluate", "MRR", "--per-query", "--format", "csv", "--sort", "RR", *arguments
    ).splitlines()
    values = [float(line.split(",")[1]) for line in by_query[1:]]
    assert by_query[0] == "query_id,MRR"
    assert values == sorted(values, reverse=True)


def test_names_of_your_own(tmp_path):
    (tmp_path / "names.toml").write_text(
        '[aliases]\nmyndcg = "nDCG(gain=exp2)@10"\nmap = "AP(denominator=k)"\n'
    )
    assert str(sqlrank.parse("my-ndcg@3", sql_dir=tmp_path)) == "nDCG(gain=exp2)@3"
    assert str(sqlrank.parse("MAP@3", sql_dir=tmp_path)) == "AP(denominator=k)@3"
    assert str(sqlrank.parse("MAP@3")) == "AP@3"


def test_a_list_of_cutoffs_is_a_column_each():
    asked = ["P@[1, 2]", "RR", "nDCG(gain=exp2)@[2]", "P@1"]
    got = sqlrank.evaluate(asked, run=GOOD_RUN, qrels=GOOD_QRELS).to_pylist()
    assert got == [{"P@1": 1.0, "P@2": 0.5, "RR": 1.0, "nDCG(gain=exp2)@2": 1.0}]
    assert sqlrank.evaluate("MAP@[1,2]", run=GOOD_RUN, qrels=GOOD_QRELS).column_names == [
        "MAP@1",
        "MAP@2",
    ]
    for wrong in ("P@[]", "P@[1,x]", "P@[1..3]", "P@[1,,2]"):
        with pytest.raises(
            MetricError, match=r"Write numbers with commas between them, as in P@\[1,5,10\]"
        ):
            sqlrank.evaluate(wrong, run=GOOD_RUN, qrels=GOOD_QRELS)


@pytest.mark.slow
def test_a_word_is_searched_for():
    names = sqlrank.metrics(search="RECIPROCAL")["name"].to_pylist()
    assert {"ERR", "RHR", "RR"} <= set(names)
    assert set(names) <= {
        line.split()[0] for line in run_command("metrics", "reciprocal").splitlines()[1:]
    }
    assert "Success" in sqlrank.metrics(search="hitrate")["name"].to_pylist(), (
        "a name known elsewhere"
    )
    assert sqlrank.metrics(search="xylophone").num_rows == 0
    assert run_command("metrics", "MAP").startswith("-- AP: ")
    assert "unknown metric 'foo'" in run_refused_command("metrics", "foo")


LISTS = read_columns(query_id="a a b b", doc_id="x y x y", score="2.0 1.0 2.0 1.0", rank="1 2 1 2")
JUDGED = {"a": {"x": 1, "z": 1}, "b": {"y": 1}}
CLASSES = {"classified": {"label": list("aab"), "predicted": list("abb")}}
SETS = {
    "class_labels": read_columns(
        prediction_id="1 1 2", class_id="a b a", label="1 1 1", predicted="1 0 1"
    )
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("compat", "call", "theirs", "ours"),
    [
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "precision", 0.5),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "precision@1", 0.5),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "recall", 0.75),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "recall@1", 0.25),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "f1", (0.5 + 2 / 3) / 2),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "hits", 1.0),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "hits@1", 0.5),
        ("ranx", {"run": LISTS, "qrels": JUDGED}, "rbp.50", 0.375),
        ("sklearn", {"inputs": CLASSES}, "accuracy_score", 2 / 3),
        ("sklearn", {"inputs": CLASSES}, "matthews_corrcoef", 0.5),
        ("sklearn", {"inputs": CLASSES}, "f1_score", 2 / 3),
        ("sklearn", {"inputs": CLASSES}, "balanced_accuracy_score", 0.75),
        ("sklearn", {"inputs": CLASSES}, "zero_one_loss", 1 / 3),
        ("sklearn", {"inputs": CLASSES}, "hamming_loss", 1 / 3),
        ("sklearn", {"inputs": SETS}, "accuracy_score", 0.5),
        ("sklearn", {"inputs": SETS}, "recall_score", 0.5),
        (
            "sklearn",
            {"predictions": read_columns(label="1 0 1", score="0.7 0.6 0.1")},
            "f1_score",
            0.5,
        ),
    ],
)
def test_names_of_a_mode_are_of_the_metric_that_reads_the_inputs(compat, call, theirs, ours):
    assert sqlrank.evaluate(theirs, **call, compat=compat).to_pylist() == [
        {theirs: pytest.approx(ours)}
    ]


def test_the_sibling_that_reads_the_inputs_is_named():
    known = {file.display_name for file in load_registry().metrics.values()}
    assert known >= {name for names in NAMES["siblings"].values() for name in names}


def test_an_infinite_beta_is_recall():
    data = read_columns(label="1 0 1", score="0.7 0.6 0.1")
    result = sqlrank.evaluate(
        ["FBeta(beta=inf)", "f1(beta=inf, threshold=0.65)", "FBeta(beta=0)"], predictions=data
    )
    assert result.to_pylist() == [
        {"FBeta(beta=inf)": 0.5, "f1(beta=inf, threshold=0.65)": 0.5, "FBeta(beta=0)": 0.5}
    ]
    for theirs, ours in NAMES["limits"].items():
        cutoff = "@3" if ours == "R" else ""
        assert str(sqlrank.parse(theirs + cutoff)) == ours + cutoff
