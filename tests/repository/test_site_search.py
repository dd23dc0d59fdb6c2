"""The search of the site finds each page by the words that people type, among the first two hits,
and by its own keywords before pages without these words, as its own worker ranks them.
"""

import json
from pathlib import Path

import pytest

from tests.interface.browser import open_page, start_browser
from website import linked_pages
from website.keywords import join_phrase, read_keywords

WANTED = {
    "AUC": "metrics/classification/auc",
    "ROC AUC": "metrics/classification/auc",
    "area under the curve": "metrics/classification/auc",
    "nDCG": "metrics/ranking/ndcg",
    "ndcg@10": "metrics/ranking/ndcg",
    "normalized discounted cumulative gain": "metrics/ranking/ndcg",
    "MRR": "metrics/ranking/rr",
    "mean reciprocal rank": "metrics/ranking/rr",
    "MAP": "metrics/ranking/ap",
    "mean average precision": "metrics/ranking/ap",
    "hit rate": "metrics/ranking/success",
    "recall at k": "metrics/ranking/r",
    "recall@100": "metrics/ranking/r",
    "--by": "inputs",
    "precision at k": "metrics/ranking/p",
    "log loss": "metrics/classification/log_loss",
    "cross entropy": "metrics/classification/log_loss",
    "brier score": "metrics/classification/brier",
    "ece": "metrics/classification/ece",
    "expected calibration error": "metrics/classification/ece",
    "reliability diagram": "metrics/curves/calibration",
    "calibration": "metrics/curves/calibration metrics/classification/calibration_ratio",
    "roc curve": "metrics/curves/roc",
    "precision recall curve": "metrics/curves/pr",
    "f1": "metrics/classification/f_beta metrics/ranking/f",
    "rmse": "metrics/regression/rmse",
    "kendall tau": "metrics/pairs/kendall_tau",
    "rank correlation": "metrics/pairs/kendall_tau metrics/pairs/spearman_rho",
    "average precision score": "metrics/classification/aps",
    "lift": "metrics/classification/lift metrics/curves/lift",
    "kolmogorov smirnov": "metrics/classification/ks",
    "gini": "metrics/classification/gini",
    "pairwise f1": "metrics/clusters/pairwise_f",
    "b-cubed": "metrics/clusters/bcubed_f metrics/clusters/bcubed_precision",
    "gauc": "metrics/classification/gauc",
    "rbo": "metrics/overlap/rbo",
    "catalog coverage": "metrics/recommendation/catalog_coverage",
    "krippendorff alpha": "metrics/agreement/krippendorff_alpha",
    "off-policy": "experiments metrics/policies/ips",
    "confidence interval": "confidence",
    "bootstrap": "confidence",
    "standard error": "confidence",
    "significance": "comparison",
    "p-value": "comparison",
    "compare two systems": "comparison",
    "multiple comparisons": "comparison",
    "power": "comparison",
    "ci gate": "gates",
    "regression test": "gates",
    "tolerance": "gates",
    "github action": "examples/gate",
    "github workflow": "files/examples/gate/gate.yml gates",
    "A/B test": "experiments",
    "cuped": "experiments",
    "sample ratio mismatch": "experiments",
    "dedupe": "entity-resolution",
    "record linkage": "entity-resolution start/entity-resolution",
    "blocking": "entity-resolution metrics/blocking/index",
    "novelty": "beyond-accuracy metrics/recommendation/unseen",
    "diversity": "beyond-accuracy",
    "popularity bias": "beyond-accuracy",
    "hold-out": "splits",
    "train test split": "splits",
    "leakage": "splits metrics/leakage/leaked_share",
    "cross validation": "splits",
    "sliding window": "rollups",
    "rolling metrics": "rollups",
    "late data": "late-data",
    "drift": "drift",
    "monitoring": "drift examples/rollup",
    "ties": "policies",
    "missing labels": "policies",
    "duplicates": "policies",
    "unjudged documents": "policies",
    "column mapping": "inputs",
    "csv": "results sources",
    "excel": "results",
    "latex": "results",
    "output format": "results",
    "bigquery": "warehouse start/warehouses",
    "snowflake": "warehouse start/warehouses",
    "dbt": "start/dbt",
    "udf": "functions",
    "charts": "charts",
    "gallery": "gallery",
    "html report": "report",
    "explain a score": "explain",
    "trec_eval": "compat",
    "ranx": "compat",
    "scikit-learn": "compat",
    "ir_measures": "ir-measures",
    "pyterrier": "ir-measures",
    "mlflow": "mlflow",
    "multiclass": "classes",
    "confusion matrix": "classes metrics/curves/threshold",
    "inter-annotator agreement": "classes metrics/agreement/krippendorff_alpha",
    "fairness": "group-differences",
    "demographic parity": "group-differences",
    "install": "start",
    "tutorial": "tutorial",
    "search engine": "start/search",
    "ground truth": "start/search",
    "rag": "start/rag",
    "retriever": "start/rag tutorial",
    "recommender": "start/recommenders",
    "click model": "start/ads",
    "glossary": "glossary",
    "error message": "troubleshooting",
    "engines": "engines",
    "query plan": "plans",
    "benchmark": "speed",
    "performance": "speed",
    "custom metric": "sql/index",
    "compatibility modes": "sql/compat",
    "command line": "cli/index",
    "sqlrank gate": "cli/gate gates",
    "python api": "api/index",
    "sqlrank.evaluate": "api/evaluate",
    "evaluate": "api/evaluate cli/evaluate",
    "learning to rank": "learning",
    "logistic regression": "learning",
    "which metric": "metrics",
    "security": "security",
    "contributing": "contributing",
    "breaking changes": "stability",
    "demo report": "demo",
    "playground": "try",
    "judgements": "start/search",
    "tsv": "sources",
    "user item": "start/recommenders",
    "sample weight": "start/ads",
    "airflow": "start/warehouses",
    "boolean label": "start/warehouses",
    "jupyter": "charts",
    "example data": "examples/small examples/rag examples/open_bandit",
}
"""Pages by queries; of several pages, one is enough."""

SEARCH = """
const [index, queries, done] = arguments
const worker = new Worker(document.querySelector("#__config") && JSON.parse(document.querySelector("#__config").textContent).search)
const found = {}
const rest = [...queries]
worker.addEventListener("message", ({ data }) => {
  if (data.type === 3)
    found[rest.shift()] = data.data.items.slice(0, 8).map(hits => hits[0].location.split("#")[0].replace(".html", ""))
  if (rest.length) worker.postMessage({ type: 2, data: rest[0] })
  else done(found)
})
worker.postMessage({ type: 0, data: { ...index, options: {} } })
"""
"""What the theme does when a reader types: an index for its worker, then a query at a time."""


@pytest.fixture(scope="module")
def hits(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the pages that the search finds for wanted words and for keywords, in order."""
    queries = dict.fromkeys(
        [*WANTED, *(word for words in read_keywords().values() for word in words)]
    )
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    with start_browser(tmp_path_factory.mktemp("downloads")) as browser:
        page = open_page(browser, site / "index.html")
        page.set_script_timeout(300)
        found = page.execute_async_script(SEARCH, index, list(queries))
    assert found.keys() == queries.keys()
    return found


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_pages_are_among_the_first_two_hits(hits):
    assert len(WANTED) >= 60
    assert {
        query: hits[query][:2]
        for query, pages in WANTED.items()
        if not set(hits[query][:2]) & set(pages.split())
    } == {}


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_keywords_find_their_pages_before_others(hits):
    pages = {}
    for place, words in read_keywords().items():
        for word in words:
            pages.setdefault(join_phrase(word), set()).add(place.removesuffix(".md"))
    assert {
        word: hits[word]
        for words in read_keywords().values()
        for word in words
        if not set(hits[word][: len(pages[join_phrase(word)])]) <= pages[join_phrase(word)]
    } == {}


@pytest.mark.slow
def test_each_written_page_has_keywords():
    docs = linked_pages.ROOT / "docs"
    written = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} | set(
        linked_pages.PAGES.values()
    )
    assert written - read_keywords().keys() == {"changelog.md"}  # which the search leaves out
    made = {
        "gallery.md", "demo.md", "sql/compat.md", "sql/relations.md", "api/index.md",
        "cli/index.md", "api/evaluate.md", "cli/evaluate.md", "cli/gate.md", "try.md",
    }  # fmt: skip
    others = {page for page in read_keywords().keys() - written if not page.startswith("metrics/")}
    assert others == made | {
        page for page in linked_pages.list_linked_files().values() if page in others
    }
    assert read_keywords()["splits.md"][0] == "sqlrank split"
    assert "train test split" in read_keywords()["splits.md"]


def test_a_metric_has_the_names_of_other_tools_and_the_words_of_users():
    assert {"AUC", "roc auc", "area under the curve"} <= set(
        read_keywords()["metrics/classification/auc.md"]
    )
    assert {"MRR".lower(), "mean reciprocal rank"} <= set(read_keywords()["metrics/ranking/rr.md"])
    assert read_keywords()["metrics/pairs/auc_at_k.md"] == ["AUC@k"]  # AUC is another page
