"""First attempts of users of other tools: they work, or the message alone leads to the correct
call.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.command_line import invoke_command, run_refused_command
from tests.tables import build_table

Y_TRUE, Y_SCORE = np.array([0, 1, 1, 0]), np.array([0.1, 0.7, 0.4, 0.5])
TABLE = build_table(label=Y_TRUE, score=Y_SCORE, campaign="a a b b", w="1.0 2.0 1.0 1.0")
DAILY = TABLE.append_column("day", pa.array(["2026-01-01", "2026-01-02"] * 2))
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d3": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.7}, "q2": {"d1": 0.2, "d3": 0.1}}
HALF_NDCG = 1 / math.log2(3)

NAMES = {
    "sqlrank": sqlrank,
    **{name: getattr(sqlrank, name) for name in sqlrank.__all__},
    **dict.fromkeys(("predictions", "data", "df", "prediction", "table"), TABLE),
    **dict.fromkeys(("y_true", "target", "label"), Y_TRUE),
    **dict.fromkeys(("y_score", "y_pred", "y_prob", "preds", "score"), Y_SCORE),
    "daily": DAILY,
    "frame": pd.DataFrame({"y_true": Y_TRUE, "y_score": Y_SCORE}),
    "sample_weight": TABLE["w"].to_numpy(),
    "np": np,
    "pa": pa,
    "rows": TABLE.to_pylist(),
    "indexes": np.array([0, 0, 1, 1]),
    "qrels": QRELS,
    "qrel": QRELS,
    "run": RUN,
    "runs": {
        "one": RUN,
        "two": {query: {doc: -value for doc, value in docs.items()} for query, docs in RUN.items()},
    },
    "reco": RUN,
    "interactions": QRELS,
    "history": build_table(query_id="q1", doc_id="d1"),
}


# An attempt, and what it gives: a number, the call that its message has, or that and the call that
# follows from it.
ATTEMPTS = {
    "scikit-learn": [
        (
            "sqlrank.roc_auc_score(y_true, y_score)",
            "sqlrank.evaluate('AUC', predictions={'label': y_true, 'score': y_score})",
        ),
        (
            "evaluate(y_true, y_score)",
            "evaluate('AUC', predictions={'label': y_true, 'score': y_score})",
        ),
        (
            "evaluate('AUC', y_true, y_score)",
            "evaluate('AUC', predictions={'label': y_true, 'score': y_score})",
        ),
        (
            "evaluate('roc_auc', y_true=y_true, y_score=y_score)",
            "evaluate('roc_auc', predictions={'label': y_true, 'score': y_score})",
        ),
        (
            "evaluate('log_loss', y_true=y_true, y_prob=y_prob)",
            "evaluate('log_loss', predictions={'label': y_true, 'score': y_prob})",
        ),
        ("evaluate('roc_auc_score', predictions=predictions)", 0.75),
        ("evaluate('average_precision_score', predictions=predictions)", 5 / 6),
        ("evaluate('brier_score_loss', predictions=predictions)", (0.01 + 0.09 + 0.36 + 0.25) / 4),
        (
            "evaluate('AUC', y_true=y_true, y_score=y_score, sample_weight=sample_weight)",
            (
                "evaluate('AUC', predictions={'label': y_true, 'score': y_score, 'weight':"
                " sample_weight})"
            ),
        ),
        (
            "evaluate('AUC', predictions=predictions, sample_weight='w')",
            "evaluate('AUC', predictions=predictions, columns={'weight': 'w'})",
        ),
        (
            "evaluate('AUC', predictions=predictions, pos_label=1)",
            "evaluate('AUC', predictions=predictions)",
        ),
        ("evaluate('ndcg_score', run=run, qrels=qrels)", HALF_NDCG),
        (
            "evaluate('ndcg_score', run=run, qrels=qrels, k=10)",
            "evaluate('ndcg_score@10', run=run, qrels=qrels)",
        ),
        ("evaluate('dcg_score', run=run, qrels=qrels)", HALF_NDCG),
        ("evaluate('roc_curve', predictions=predictions).slice(1).select(['tpr'])", 0.5),
        ("evaluate('precision_recall_curve', predictions=predictions).select(['precision'])", 1.0),
        (
            "evaluate('confusion_matrix', predictions=predictions)",
            "['TP', 'FP', 'FN', 'TN']",
            "evaluate(['TP', 'FP', 'FN', 'TN'], predictions=predictions, threshold=0.45)",
        ),
        (
            "evaluate('AUC', predictions=frame)",
            "columns={'label': 'y_true', 'score': 'y_score'}",
            "evaluate('AUC', predictions=frame, columns={'label': 'y_true', 'score': 'y_score'})",
        ),
    ],
    "ranx": [
        ("evaluate(qrels, run, ['map', 'mrr'])", "evaluate(['map', 'mrr'], qrels=qrels, run=run)"),
        ("evaluate(qrels, run, 'ndcg@10')", "evaluate('ndcg@10', qrels=qrels, run=run)"),
        ("evaluate('hit_rate@5', qrels=qrels, run=run)", 1.0),
        ("evaluate('map@100', qrels=qrels, run=run)", 0.5),
        (
            "evaluate('mrr', qrels=qrels, run=run, make_comparable=True)",
            "evaluate('mrr', qrels=qrels, run=run)",
        ),
        (
            "evaluate('mrr', qrels=qrels, run=run, return_mean=False)",
            "evaluate('mrr', qrels=qrels, run=run, per_query=True)",
        ),
        (
            "evaluate('rbp.95', qrels=qrels, run=run)",
            "RBP(p=0.95)",
            "evaluate('RBP(p=0.95)', qrels=qrels, run=run)",
        ),
        ("compare(['map'], qrels=qrels, runs=runs)", "compare('map', qrels=qrels, run=runs)"),
        (
            "compare(qrels, runs=runs, metrics=['map', 'mrr'], max_p=0.01)",
            "compare(['map', 'mrr'], run=runs, confidence=0.99, qrels=qrels)",
        ),
        (
            "compare('map', qrels=qrels, run=runs, stat_test='t')",
            "compare('map', qrels=qrels, run=run, test='t')",
            "compare('map', qrels=qrels, run=runs, test='t')",
        ),
    ],
    "pytrec_eval": [
        (
            "sqlrank.RelevanceEvaluator(qrels, {'map'}).evaluate(run)",
            "sqlrank.evaluate(['AP', 'nDCG@10'], run=run, qrels=qrels, per_query=True)",
        ),
        ("evaluate('recip_rank', run=run, qrels=qrels)", 0.5),
        ("evaluate({'map'}, run=run, qrels=qrels)", 0.5),
        (
            "evaluate('ndcg_cut_10', run=run, qrels=qrels)",
            "write nDCG@10",
            "evaluate('nDCG@10', run=run, qrels=qrels)",
        ),
        (
            "evaluate('ndcg_cut.10', run=run, qrels=qrels)",
            "Write nDCG@10",
            "evaluate('nDCG@10', run=run, qrels=qrels)",
        ),
        (
            "evaluate('all_trec', run=run, qrels=qrels)",
            "['AP', 'nDCG', 'P@[5,10,20]', 'Rprec', 'bpref']",
            (
                "evaluate(['AP', 'nDCG', 'P@[5,10,20]', 'Rprec', 'bpref'], run=run, qrels=qrels,"
                " compat='trec10')"
            ),
        ),
        (
            "evaluate('map', run=run, qrels=qrels, relevance_level=1)",
            "evaluate('map', run=run, qrels=qrels, rel=1)",
        ),
    ],
    "Spark MLlib": [
        ("evaluate('areaUnderROC', predictions=predictions)", 0.75),
        (
            "evaluate('ndcgAt(10)', run=run, qrels=qrels)",
            "Write nDCG@10",
            "evaluate('nDCG@10', run=run, qrels=qrels)",
        ),
        (
            "evaluate('precisionAt(5)', run=run, qrels=qrels)",
            "Write P@5",
            "evaluate('P@5', run=run, qrels=qrels)",
        ),
        (
            "evaluate('meanAveragePrecisionAt(5)', run=run, qrels=qrels)",
            "Write AP@5",
            "evaluate('AP@5', run=run, qrels=qrels)",
        ),
        (
            "evaluate('AUC', predictions=predictions, weightCol='w')",
            "evaluate('AUC', predictions=predictions, columns={'weight': 'w'})",
        ),
    ],
    "dbt": [
        ("dbt_model('AUC', 'daily', 'clicks')", "dbt_model('AUC', 'daily', predictions='clicks')"),
        (
            (
                "dbt_model('AUC', 'daily', predictions='clicks', by='day',"
                " materialized='incremental', unique_key='day')"
            ),
            (
                "dbt_model('AUC', 'daily', predictions='clicks', by='day',"
                " materialized='incremental', overwrite_by='day')"
            ),
        ),
        (
            "dbt_model('AUC', predictions='clicks')",
            "dbt_model('AUC', name, predictions='clicks')",
            "dbt_model('AUC', 'daily', predictions='clicks')",
        ),
        (
            "dbt_model('AUC', 'daily', predictions='clicks', group_by='day')",
            "dbt_model('AUC', 'daily', predictions='clicks', by='day')",
        ),
        (
            "dbt_model('AUC', 'daily', predictions='clicks', materialised='view')",
            "Did you mean 'materialized'?",
            "dbt_model('AUC', 'daily', predictions='clicks', materialized='view')",
        ),
        (
            "dbt_model('AUC', 'daily.sql', predictions='clicks')",
            "Use letters, digits and _",
            "dbt_model('AUC', 'daily', predictions='clicks')",
        ),
    ],
    "anyone": [
        ("evaluate('AUC', prediction=prediction)", "evaluate('AUC', predictions=prediction)"),
        ("evaluate('AUC', data=data)", "evaluate('AUC', predictions=data)"),
        ("evaluate('AUC', df)", "evaluate('AUC', predictions=predictions)"),
        (
            "evaluate('AUC', predictions=predictions, group_by='campaign')",
            "evaluate('AUC', predictions=predictions, by='campaign')",
        ),
        (
            "evaluate('nDCG', run=run, qrels=qrels, k=10)",
            "evaluate('nDCG@10', run=run, qrels=qrels)",
        ),
        (
            "evaluate('AP,RR', run=run, qrels=qrels)",
            "['AP', 'RR']",
            "evaluate(['AP', 'RR'], run=run, qrels=qrels)",
        ),
        ("evaluate(df, 'AUC')", "evaluate('AUC', predictions=predictions)"),
    ],
}

FURTHER = [
    # scikit-learn
    (
        "evaluate('f1_score', y_true=y_true, y_pred=y_pred)",
        "evaluate('f1_score', predictions={'label': y_true, 'score': y_pred})",
    ),
    ("evaluate('ndcg_score@10', run=run, qrels=qrels, compat='sklearn')", HALF_NDCG),
    ("evaluate('matthews_corrcoef', predictions=predictions, threshold=0.45)", 0.0),
    (
        "evaluate('accuracy_score', predictions=predictions, labels=[0, 1])",
        "evaluate('accuracy_score', predictions=predictions)",
    ),
    (
        "evaluate(predictions=predictions, scoring='roc_auc')",
        "evaluate('roc_auc', predictions=predictions)",
    ),
    (
        "split(df, test_size=0.2)",
        "split(table, key='user_id', salt='my-split', shares={'train': 0.8, 'test': 0.2})",
        "split(table, key='campaign', salt='my-split', shares={'train': 0.8, 'test': 0.2})",
    ),
    (
        "evaluate('AUC', predictions=predictions, n_jobs=2)",
        "evaluate('AUC', predictions=predictions, threads=2)",
    ),
    # ranx
    (
        "evaluate(qrels, run, 'map', return_mean=False)",
        "evaluate('map', per_query=True, qrels=qrels, run=run)",
    ),
    ("evaluate('ndcg_burges@10', qrels=qrels, run=run)", HALF_NDCG),
    ("evaluate('precision@2', qrel=qrel, run=run)", "evaluate('precision@2', qrels=qrel, run=run)"),
    # pytrec_eval
    ("evaluate(run, qrels, {'map', })", "evaluate('map', qrels=qrels, run=run)"),
    ("evaluate('P_5', run=run, qrels=qrels)", "write P@5", "evaluate('P@5', run=run, qrels=qrels)"),
    (
        "evaluate('ndcg_cut', run=run, qrels=qrels)",
        "nDCG@[5,10,15,20]",
        "evaluate('nDCG@[5,10,15,20]', run=run, qrels=qrels)",
    ),
    (
        "evaluate('official', run=run, qrels=qrels)",
        "compat='trec10'",
        "evaluate(['AP', 'nDCG'], run=run, qrels=qrels, compat='trec10')",
    ),
    ("evaluate(measures=['map'], run=run, qrels=qrels)", "evaluate('map', run=run, qrels=qrels)"),
    # RecTools
    ("evaluate('NDCG(k=10)', run=run, qrels=qrels)", HALF_NDCG),
    ("evaluate('MAP(k=10)', run=run, qrels=qrels)", 0.5),
    ("evaluate('Precision(k=2)', run=run, qrels=qrels)", 0.5),
    (
        "evaluate('HitRate@2', reco=reco, interactions=interactions)",
        "evaluate('HitRate@2', run=reco, qrels=interactions)",
    ),
    (
        "sqlrank.calc_metrics({'ndcg@10': None}, reco, seen)",
        "evaluate(['nDCG@10', 'AP@10'], run=run, qrels=qrels)",
    ),
    # MLlib
    ("evaluate('meanAveragePrecision', run=run, qrels=qrels)", 0.5),
    ("evaluate('ndcgAtK', run=run, qrels=qrels)", HALF_NDCG),
    (
        "evaluate('AUC', predictions=predictions, labelCol='label', rawPredictionCol='score')",
        "evaluate('AUC', predictions=predictions, columns={'label': 'label', 'score': 'score'})",
    ),
    (
        "evaluate('areaUnderPR', predictions=predictions)",
        "write PRAUC",
        "evaluate('PRAUC', predictions=predictions)",
    ),
    # dbt
    (
        "dbt_model('AUC', 'daily', predictions='clicks', config={'tags': ['x']})",
        "dbt_model('AUC', 'daily', predictions='clicks')",
    ),
    (
        "dbt_model('AUC', 'daily', data='clicks', by='day')",
        "dbt_model('AUC', 'daily', predictions='clicks', by='day')",
    ),
    (
        "rollup_model('AUC', 'st', predictions='clicks', by='day')",
        "rollup_model needs begin",
        "rollup_model('AUC', 'st', predictions='clicks', by='day', begin='2026-01-01')",
    ),
    (
        "dbt_model('AUC', 'daily', predictions='clicks', target='bigquery')",
        "dbt_model('AUC', 'daily', predictions='clicks', dialect='bigquery')",
    ),
    (
        "dbt_model('AUC', 'daily', predictions=\"{{ ref('clicks') }}\")",
        ". Write 'clicks'",
        "dbt_model('AUC', 'daily', predictions='clicks')",
    ),
    (
        "dbt_model('AUC', 'daily', predictions='source(\"ads\", \"clicks\")')",
        ". Write 'ads.clicks'",
        "dbt_model('AUC', 'daily', predictions='ads.clicks')",
    ),
    # torchmetrics
    (
        "evaluate('BinaryAUROC', preds=preds, target=target)",
        "evaluate('BinaryAUROC', predictions={'score': preds, 'label': target})",
    ),
    (
        "evaluate('AUC', preds, target)",
        "evaluate('AUC', predictions={'label': y_true, 'score': y_score})",
    ),
    (
        "evaluate('nDCG', preds=preds, target=target, indexes=indexes)",
        (
            "evaluate('nDCG', predictions={'query_id': indexes, 'doc_id': range(len(preds)),"
            " 'score': preds, 'label': target})"
        ),
    ),
    ("evaluate('nDCG', run=run, qrels=qrels, top_k=2)", "evaluate('nDCG@2', run=run, qrels=qrels)"),
    (
        "evaluate('RetrievalNormalizedDCG@2', run=run, qrels=qrels)",
        "compat='torchmetrics'",
        "evaluate('RetrievalNormalizedDCG@2', run=run, qrels=qrels, compat='torchmetrics')",
    ),
    (
        "evaluate('RetrievalMAP', run=run, qrels=qrels)",
        "write AP",
        "evaluate('AP', run=run, qrels=qrels)",
    ),
    # anyone
    *(
        (
            f"evaluate('AUC', predictions={source})",
            "Write {'label': y_true, 'score': y_score}",
            "evaluate('AUC', predictions={'label': y_true, 'score': y_score})",
        )
        for source in ("np.array([y_true, y_score])", "(y_true, y_score)", "y_score")
    ),
    (
        "evaluate('AP', run=y_score, qrels=qrels)",
        "Write {query: {document: score}}",
        "evaluate('AP', run=run, qrels=qrels)",
    ),
    (
        "evaluate('AUC', predictions=predictions, output='auc.parquet')",
        "evaluate('AUC', predictions=predictions)",
    ),
    ("sql('AUC', predictions='p', output='t')", "sql('AUC', predictions='p', create_table='t')"),
    (
        "evaluate('Unseen@2', run=run, history=history)",
        "inputs={'history': ...}",
        "evaluate('Unseen@2', run=run, inputs={'history': history})",
    ),
    ("evaluate('AUC', predictions={'label': y_true, 'score': y_score})", 0.75),
    ("evaluate(predictions)", "evaluate('AUC', predictions=table)"),
    (
        "drift('AUC', rollup=daily)",
        "drift('AUC', rollup=rollup, reference=...)",
        (
            "drift('AUC', rollup=rollup('AUC', predictions=daily, by='day'), reference=\"day <"
            " '2026-01-02'\")"
        ),
    ),
]

COMMANDS = [
    (["AUC", "--group-by", "campaign"], "--group-by. Write --by", ["AUC", "--by", "campaign"]),
    (["AUC", "--prediction", "p.parquet"], "Write --predictions", ["AUC"]),
    (
        ["AUC", "--sample-weight", "w"],
        "Write --column weight=NAME",
        ["AUC", "--column", "weight=w"],
    ),
    (
        ["AUC", "-p", "k=10"],
        "--policy k=10: unknown policy 'k'. Write the cut-off after the metric",
        ["AUC@10"],
    ),
    (
        ["AUC", "-p", "group_by=campaign"],
        "unknown policy 'group_by'. Write --by",
        ["AUC", "--by", "campaign"],
    ),
    (["AUC", "-p", "unjudgd=drop"], "unknown policy 'unjudgd'. Did you mean 'unjudged'?", ["AUC"]),
    (["AUC", "--n-jobs", "2"], "Write --threads", ["AUC", "--threads", "2"]),
    (["AUC", "--zero-division", "0"], "Write --policy zero_division=...", ["AUC"]),
    (["AUC", "--seed", "7"], "--seed 7 is for --confidence with --interval bootstrap", ["AUC"]),
    (["AUC,APS"], "holds several metrics. Give AUC APS", ["AUC", "APS"]),
    (
        ["AUC", "--memory-limit", "lots"],
        "--memory-limit lots is not possible: give a number with a unit",
        ["AUC", "--memory-limit", "1GB"],
    ),
]


def _evaluate_text(text: str) -> Any:
    return eval(text, dict(NAMES))  # noqa: S307  the calls of this file


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "attempt",
    [
        *(
            pytest.param(each, id=f"{tool}: {each[0]}")
            for tool, tried in ATTEMPTS.items()
            for each in tried
        ),
        *FURTHER,
    ],
    ids=lambda each: each[0],
)
def test_a_first_attempt_works_or_is_led_by_its_message(attempt):
    text, expected, *following = attempt
    if isinstance(expected, float):
        (column,) = [
            column for column in _evaluate_text(text).columns if pa.types.is_floating(column.type)
        ][:1]
        assert column[0].as_py() == pytest.approx(expected)
        return
    with pytest.raises((sqlrank.SqlrankError, AttributeError)) as caught:
        _evaluate_text(text)
    assert expected in str(caught.value)
    assert _evaluate_text(following[0] if following else expected) is not None


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("words", "message", "following"), COMMANDS, ids=str)
def test_a_first_command_is_led_by_its_message(words, message, following, tmp_path):
    pq.write_table(TABLE, tmp_path / "p.parquet")
    source = ["--predictions", str(tmp_path / "p.parquet")]
    assert message in " ".join(run_refused_command("evaluate", *words, *source).split())
    assert invoke_command("evaluate", *following, *source).exit_code == 0


def test_as_many_first_attempts_as_are_claimed():
    assert {tool: len(tried) for tool, tried in ATTEMPTS.items()} == {
        "scikit-learn": 18, "ranx": 10, "pytrec_eval": 7, "Spark MLlib": 5, "dbt": 6, "anyone": 7,
    }  # fmt: skip
    assert len(FURTHER) >= 30
