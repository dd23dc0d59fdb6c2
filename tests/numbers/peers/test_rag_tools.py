"""Tools for retrieval-augmented generation: lists of ids beside the relevant ones, each tool in an
environment of its own.

ragas 0.4 imports what later versions of langchain-community left out.
"""

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.environments import make_environment
from tests.numbers.peers import test_mlflow as of_mlflow

pytestmark = pytest.mark.slow

Lists = list[tuple[list[str], list[str]]]
"""Retrieved and relevant ids of each question."""

MLFLOW = """
import json, sys
import pandas as pd
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k
retrieved, relevant = map(pd.Series, zip(*json.load(sys.stdin)))
metrics = {"P": precision_at_k, "R": recall_at_k, "nDCG": ndcg_at_k}
values = {f"{name}@{k}": metric(k).eval_fn(retrieved, targets=relevant).scores for name, metric in metrics.items() for k in (1, 3, 10)}
print(json.dumps(values, default=float))
"""
RAGAS = """
import asyncio, json, sys
from ragas import SingleTurnSample
from ragas.metrics import ContextPrecision, IDBasedContextPrecision, IDBasedContextRecall
from ragas.metrics._context_precision import Verification
metrics = {"id_based_context_precision": IDBasedContextPrecision(), "id_based_context_recall": IDBasedContextRecall()}
values = {name: [] for name in [*metrics, "context_precision"]}
for retrieved, relevant in json.load(sys.stdin):
    sample = SingleTurnSample(retrieved_context_ids=retrieved, reference_context_ids=relevant)
    for name, metric in metrics.items():
        values[name].append(asyncio.run(metric.single_turn_ascore(sample)))
    verdicts = [Verification(reason="", verdict=int(doc in relevant)) for doc in dict.fromkeys(retrieved)]
    values["context_precision"].append(ContextPrecision._calculate_average_precision(None, verdicts))
print(json.dumps(values, default=float))
"""
LLAMA_INDEX = """
import json, sys
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
names = ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
values = {name: [] for name in names}
for retrieved, relevant in json.load(sys.stdin):
    for name in names:
        values[name].append(METRIC_REGISTRY[name]().compute(expected_ids=relevant, retrieved_ids=retrieved).score)
print(json.dumps(values))
"""
HAYSTACK = """
import json, sys
from haystack import Document
from haystack.components.evaluators import DocumentMAPEvaluator, DocumentMRREvaluator, DocumentNDCGEvaluator, DocumentRecallEvaluator
evaluators = {
    "DocumentMAPEvaluator": DocumentMAPEvaluator(),
    "DocumentMRREvaluator": DocumentMRREvaluator(),
    "DocumentNDCGEvaluator": DocumentNDCGEvaluator(),
    "recall_single_hit": DocumentRecallEvaluator(mode="single_hit"),
    "recall_multi_hit": DocumentRecallEvaluator(mode="multi_hit"),
}
lists = [[[Document(content=doc) for doc in docs] for docs in pair] for pair in json.load(sys.stdin)]
retrieved, relevant = map(list, zip(*lists))
values = {name: evaluator.run(ground_truth_documents=relevant, retrieved_documents=retrieved)["individual_scores"] for name, evaluator in evaluators.items()}
print(json.dumps(values))
"""

SENTENCE_TRANSFORMERS = """
import json, sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
names = {"torch": "Tensor", "sentence_transformers.base.evaluation.evaluator": "BaseEvaluator", "sentence_transformers.util.similarity": "SimilarityFunction"}
for module, name in names.items():
    sys.modules[module] = ModuleType(module)
    setattr(sys.modules[module], name, type(name, (), {}))
folder = Path(next(iter(find_spec("sentence_transformers").submodule_search_locations)))
spec = spec_from_file_location("information_retrieval", folder / "sentence_transformer" / "evaluation" / "information_retrieval.py")
tool = module_from_spec(spec)
spec.loader.exec_module(tool)
depths = {name: [1, 2, 3, 5, 10] for name in ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")}
values = {}
for scores, relevant in json.load(sys.stdin):
    evaluator = tool.InformationRetrievalEvaluator({"q": ""}, dict.fromkeys(scores, ""), {"q": set(relevant)}, **depths)
    found = evaluator.compute_metrics([[{"corpus_id": doc, "score": score} for doc, score in scores.items()]])
    for name, by_depth in found.items():
        for k, value in by_depth.items():
            values.setdefault(name.replace("@k", f"@{k}"), []).append(value)
print(json.dumps(values, default=float))
"""


def draw_lists(seed: int, *, empty: bool) -> Lists:
    """Draw lists without repetitions, of which either may be empty where the tool has a value for
    that.
    """
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{number}" for number in range(9)]
    lists = []
    while len(lists) < 60:
        retrieved, relevant = (
            rng.sample(docs, rng.randint(0 if empty else 1, most)) for most in (8, 4)
        )
        lists += [(retrieved, relevant)] if retrieved or relevant else []
    return lists


def make_tables(lists: Lists) -> dict[str, pa.Table]:
    run = [
        (f"q{query:02}", doc, rank)
        for query, (docs, _) in enumerate(lists)
        for rank, doc in enumerate(docs, start=1)
    ]
    qrels = [(f"q{query:02}", doc, 1) for query, (_, docs) in enumerate(lists) for doc in docs]
    return {"run": make_table(run, "rank"), "qrels": make_table(qrels, "relevance")}


def make_table(rows: Sequence[tuple[str, str, int]], number: str) -> pa.Table:
    return pa.table(
        dict(zip(("query_id", "doc_id", number), map(list, zip(*rows, strict=True)), strict=True))
    )


def run_tool(
    config: pytest.Config, requirements: list[str], program: str, lists: Any, folder: Path
) -> Mapping[str, list[float]]:
    """Return the values of each question that a tool computes."""
    path = folder / "program.py"
    path.write_text(program)
    programs = make_environment(config, requirements[0].partition("==")[0], requirements)
    done = subprocess.run(
        [str(programs / "python"), str(path)],
        input=json.dumps(lists),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(
    lists: Lists, expected: Mapping[str, list[float]], compat: str, *, tolerance: float = 1e-12
) -> None:
    """Compare all questions as answers, and those with relevant documents as run and judgments."""
    answers = {
        "query_id": [f"q{query:02}" for query in range(len(lists))],
        **{
            name: [pair[place] for pair in lists]
            for place, name in enumerate(("retrieved", "relevant"))
        },
    }
    has_relevant = [bool(relevant) for _, relevant in lists]
    inputs = [
        ({"inputs": {"answers": pa.table(answers)}}, [True] * len(lists)),
        (make_tables(lists), has_relevant),
    ]
    for sources, is_evaluated in inputs:
        found = sqlrank.evaluate(
            list(expected), per_query=True, compat=compat, **sources
        ).drop_columns(["query_id"])
        for (name, values), column in zip(expected.items(), found.columns, strict=True):
            assert column.to_pylist() == pytest.approx(
                list(compress(values, is_evaluated)), abs=tolerance
            ), name


def test_mlflow(pytestconfig, tmp_path):
    """It compares scores in single precision."""
    lists = draw_lists(11, empty=True)
    check(
        lists,
        run_tool(pytestconfig, of_mlflow.REQUIREMENTS, MLFLOW, lists, tmp_path),
        "mlflow",
        tolerance=1e-6,
    )


def test_ragas(pytestconfig, tmp_path):
    """It adds 1e-10 to a denominator, and takes each id once."""
    lists = [(docs + docs[:1], relevant) for docs, relevant in draw_lists(12, empty=False)]
    expected = run_tool(
        pytestconfig, ["ragas==0.4.3", "langchain-community<0.4"], RAGAS, lists, tmp_path
    )
    check(lists, expected, "ragas", tolerance=1e-9)


def test_llama_index(pytestconfig, tmp_path):
    lists = draw_lists(13, empty=False)
    check(
        lists,
        run_tool(pytestconfig, ["llama-index-core==0.14.25"], LLAMA_INDEX, lists, tmp_path),
        "llama_index",
    )


def test_haystack(pytestconfig, tmp_path):
    lists = draw_lists(14, empty=True)
    check(
        lists, run_tool(pytestconfig, ["haystack-ai==3.4.1"], HAYSTACK, lists, tmp_path), "haystack"
    )


def test_sentence_transformers(pytestconfig, tmp_path):
    """Its evaluator is read from its file, with classes without methods for those of PyTorch, which
    only its search needs.
    """
    rng = random.Random(15)  # noqa: S311
    lists = draw_lists(15, empty=False)
    questions = [
        ({doc: rng.randint(0, 3) / 4 for doc in docs}, relevant) for docs, relevant in lists
    ]
    requirements = ["sentence-transformers==6.2.0", "numpy", "tqdm", "--no-deps"]
    expected = run_tool(pytestconfig, requirements, SENTENCE_TRANSFORMERS, questions, tmp_path)
    run = {f"q{query:02}": scores for query, (scores, _) in enumerate(questions)}
    qrels = {
        f"q{query:02}": dict.fromkeys(relevant, 1) for query, (_, relevant) in enumerate(questions)
    }
    found = sqlrank.evaluate(
        list(expected), run=run, qrels=qrels, per_query=True, compat="sentence_transformers"
    )
    assert len(expected) == 6 * 5
    for (name, values), column in zip(
        expected.items(), found.drop_columns(["query_id"]).columns, strict=True
    ):
        assert column.to_pylist() == pytest.approx(values, abs=1e-12), name


def test_mlflow_takes_the_best_order_of_what_was_retrieved():
    """[a] for a, b, c: 1.0 in MLflow, and 1 / (1 + 1 / log2(3) + 1 / 2) by the definition."""
    lists = make_tables([(["a"], ["a", "b", "c"])])
    assert sqlrank.evaluate("nDCG@10", compat="mlflow", **lists)["nDCG@10"].to_pylist() == [1.0]
    assert sqlrank.evaluate("nDCG@10", ties="rank", **lists)["nDCG@10"].to_pylist() == [
        pytest.approx(0.46927872602275)
    ]
