# Types of options, which `python -m website.option_types` writes.
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Map = Mapping[Any, float]

DialectName = Literal[
        "athena", "bigquery", "clickhouse", "databricks", "datafusion", "duckdb",
        "fabric", "googlesql", "mariadb", "motherduck", "mssql", "mysql", "pg",
        "postgres", "postgresql", "presto", "redshift", "snowflake", "spark", "sparksql",
        "sqlite", "sqlite3", "sqlserver", "trino", "tsql"
    ]

class SharedPolicies(TypedDict, total=False):
    aggregate: Literal["gmean", "max", "mean", "min", "quantile", "sum", "wmean"] | Map
    alpha: Any
    area_scaling: Literal["mcclish", "ratio", "raw"] | Map
    average: Literal["macro", "weighted", "micro", "samples"]
    base: Any
    beta: Any
    bins: Any
    bound: Any
    catalog: Literal["items", "history"]
    clip: Any
    cluster_weight: Literal["equal", "inverse_size"] | Map
    collection: Any
    coverage: Any
    criterion: Literal["accuracy", "f", "mcc", "youden"] | Map
    curve_spacing: Literal["equal", "logarithmic"]
    denominator: Literal["hits", "k", "min_rk", "relevant", "retrieved"] | Map
    depth: Any
    disagreement: Literal["linear", "nominal", "quadratic"] | Map
    discount: Literal[
        "geometric", "inverse", "jarvelin", "ln", "log2", "none", "zipf"
    ] | Map
    distance: Literal["hamming", "cosine", "category"]
    duplicates: Literal["error", "max"]
    eps: Any
    eta: Any
    exponent: Any
    few_negatives: Literal["error", "pad", "skip", "truncate"] | Map
    floor: Any
    fraction: Any
    gain: Literal["binary", "exp2", "linear", "threshold"] | Map
    gain_scale: Literal["none", "top_grade"] | Map
    id_type: Literal["given", "text"]
    ideal: Literal["judged", "retrieved", "judged_truncated", "binary_k"]
    if_undefined: Literal["half", "null", "one", "skip", "zero"] | Map
    importance_weight: Literal["clip", "none"] | Map
    interpolation: Literal["davis_goadrich", "from_one", "trapezoid"] | Map
    level: Literal["group", "query"]
    level_of_measurement: Literal["nominal", "ordinal", "interval"]
    lift_variant: Literal["exact", "magnetic_spark"] | Map
    link_type: Literal["dedupe", "link"]
    margin: Any
    max_eta: Any
    max_fpr: Any
    max_grade: Any
    min_share: Any
    missing_prediction: Literal["singleton", "drop", "error"]
    missing_truth: Literal["drop", "singleton", "error"]
    multi_class: Literal["ovr", "ovo"]
    multiple: Any
    n: Any
    negative_grades: Literal["unjudged", "judged"]
    nonrel_missed: Any
    nonrel_ret: Any
    normalization: Literal["ideal", "none"] | Map
    novelty: Literal["power"] | Map
    nulls: Literal["error", "drop"]
    num_ranked: Any
    p: Any
    p_break: Any
    persistence: Any
    phi: Literal["mww", "power", "rtb", "top"] | Map
    points: Any
    pooling: Literal["pairs", "queries", "surprise"] | Map
    precision: Any
    precision_at: Literal["hits", "all_ranks"]
    propensity: Literal["rank", "given"]
    q: Any
    query_weight: Literal["count", "equal", "positives", "weight"] | Map
    ranks: Literal["consecutive", "given"]
    ratio_estimate: Literal["corrected", "ratio"] | Map
    recall: Any
    record_weight: Literal["cluster", "record", "true_cluster"] | Map
    rel: Any
    rel_missed: Any
    rel_ret: Any
    rho_formula: Literal["d2", "pearson"] | Map
    rounding: Any
    scale: Literal["best", "mean", "sum"] | Map
    score_type: Literal["given", "float64", "float32"]
    share: Any
    smoothing: Any
    stop_probability: Literal["exp2", "identity", "yandex"] | Map
    surrogate: Literal[
        "avg", "max", "ts", "ts_reference", "ramp", "pauc", "precision",
        "precision_reference"
    ]
    targeting: Literal["by_arm", "overall"] | Map
    tau: Literal["b", "a", "c", "gamma"]
    threshold: Any
    threshold_from: Literal["given", "best"]
    tie_credit: Any
    tie_rule: Literal["discordant", "half", "ignore"] | Map
    ties: Literal[
        "doc_desc", "doc_asc", "rank", "expected", "worst", "best", "error", "row_order"
    ]
    topics: Literal[
        "judged", "judged_and_retrieved", "clicked", "retrieved", "strict", "given"
    ]
    u0: Any
    unjudged: Literal["nonrelevant", "drop"]
    untied_in: Literal["label", "score"] | Map
    zero_division: Literal["one", "skip", "zero"] | Map

class Policies(SharedPolicies, total=False):
    binning: Literal["equal_width", "equal_mass"]
    power: Any

class ComparisonPolicies(SharedPolicies, total=False):
    binning: Literal["equal_width", "equal_mass"]

class RollupPolicies(SharedPolicies, total=False):
    power: Any

