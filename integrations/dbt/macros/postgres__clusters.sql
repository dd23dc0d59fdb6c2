{# sqlrank 0.1.0: dbt package #}
{% macro postgres__clusters(predicted_clusters, true_clusters, groups, columns) %}
WITH sqlrank_predicted_clusters_source AS NOT MATERIALIZED (
  SELECT
    {{ sqlrank.source_columns('predicted_clusters', ['record_id', 'cluster_id'], columns, groups) }}
  FROM {{ predicted_clusters }}
), sqlrank_true_clusters_source AS NOT MATERIALIZED (
  SELECT {{ sqlrank.source_columns('true_clusters', ['record_id', 'cluster_id'], columns, groups) }}
  FROM {{ true_clusters }}
), sqlrank_predicted_clusters AS NOT MATERIALIZED (
  -- One row per record, with its predicted cluster.
  SELECT {{ sqlrank.group_columns(groups, '') }}, record_id, cluster_id
  FROM sqlrank_predicted_clusters_source
), sqlrank_true_clusters AS NOT MATERIALIZED (
  -- One row per record, with its true cluster.
  SELECT {{ sqlrank.group_columns(groups, '') }}, record_id, cluster_id
  FROM sqlrank_true_clusters_source
), sqlrank_predicted_groups AS (
  -- One row per sqlrank_group of the predicted clusters.
  SELECT {{ sqlrank.group_columns(groups, '') }}
  FROM sqlrank_predicted_clusters
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_records AS (
  -- One row per record, with its predicted and true cluster.
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_predicted_clusters.') }},
    sqlrank_predicted_clusters.record_id,
    -- NULL if only the other clustering has the record
    sqlrank_predicted_clusters.cluster_id AS predicted_cluster,
    -- NULL if only the other clustering has the record
    sqlrank_true_clusters.cluster_id AS true_cluster
  FROM sqlrank_predicted_clusters
  LEFT JOIN sqlrank_true_clusters
    ON {% for _ in groups %}(sqlrank_predicted_clusters.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_true_clusters.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_predicted_clusters.record_id = sqlrank_true_clusters.record_id
  UNION ALL
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_predicted_groups.') }},
    sqlrank_true_clusters.record_id, sqlrank_predicted_clusters.cluster_id AS predicted_cluster,
    sqlrank_true_clusters.cluster_id AS true_cluster
  FROM sqlrank_predicted_groups
  INNER JOIN sqlrank_true_clusters
    ON {% for _ in groups %}(sqlrank_predicted_groups.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_true_clusters.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
  LEFT JOIN sqlrank_predicted_clusters
    ON {% for _ in groups %}(sqlrank_predicted_groups.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_predicted_clusters.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_true_clusters.record_id = sqlrank_predicted_clusters.record_id
  WHERE sqlrank_predicted_clusters.record_id IS NULL
), sqlrank_evaluated_records AS (
  -- One row per sqlrank_group and record that has a true cluster. (evaluated_records/drop.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    predicted_cluster,  -- NULL without one
    -- the record, if it is a cluster of its own
    CASE WHEN predicted_cluster IS NULL THEN record_id END AS unplaced_record_id,
    true_cluster  -- never NULL
  FROM sqlrank_records
  WHERE true_cluster IS NOT NULL
), sqlrank_cluster_overlaps AS (
  -- One row per sqlrank_group, predicted and true cluster that share records.
  -- (cluster_overlaps.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    predicted_cluster,
    unplaced_record_id,  -- the record, if it has no predicted cluster
    true_cluster,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n  -- records that both clusters share
  FROM sqlrank_evaluated_records
  GROUP BY
    {{ sqlrank.group_columns(groups, '') }},
    predicted_cluster,
    unplaced_record_id,
    true_cluster
), sqlrank_contingency_table AS (
  -- One row per sqlrank_group, predicted and true cluster that share records.
  -- (contingency_table.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    n,
    SUM(n) OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, '') }}, predicted_cluster, unplaced_record_id
    ) AS predicted_size,  -- records of the predicted cluster
    -- records of the true cluster
    SUM(n) OVER (PARTITION BY {{ sqlrank.group_columns(groups, '') }}, true_cluster) AS true_size
  FROM sqlrank_cluster_overlaps
), sqlrank_contingency_table_metrics AS (
  -- One row per sqlrank_group.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    -- PairwisePrecision: share of the pairs of records in one predicted cluster that are in one
    -- true cluster.
    SUM(n * (n - 1)) / NULLIF(SUM(n * (predicted_size - 1)), 0) AS pairwise_precision,
    -- PairwiseRecall: share of the pairs of records in one true cluster that are in one predicted
    -- cluster.
    SUM(n * (n - 1)) / NULLIF(SUM(n * (true_size - 1)), 0) AS pairwise_recall,
    -- PairwiseF: F measure of pairwise precision and recall: their harmonic mean, if beta is 1.
    2 * SUM(n * (n - 1))
    / NULLIF(SUM(n * (true_size - 1)) + SUM(n * (predicted_size - 1)), 0) AS pairwise_f,
    -- BCubedPrecision: B-cubed precision, the mean over records of the share of their predicted
    -- cluster that is in their true cluster.
    SUM(n * n / predicted_size) / SUM(n) AS bcubed_precision,
    -- BCubedRecall: B-cubed recall, the mean over records of the share of their true cluster that
    -- is in their predicted cluster.
    SUM(n * n / true_size) / SUM(n) AS bcubed_recall,
    -- BCubedF: harmonic mean of B-cubed precision and recall.
    2 * SUM(n * n / predicted_size) * SUM(n * n / true_size)
    / NULLIF(SUM(n * n / predicted_size) * SUM(n) + SUM(n * n / true_size) * SUM(n), 0) AS bcubed_f,
    -- num_records: number of records evaluated.
    SUM(n) AS num_records
  FROM sqlrank_contingency_table
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_records_metrics AS (
  -- One row per sqlrank_group.
  SELECT {{ sqlrank.group_columns(groups, '') }}
  FROM sqlrank_records
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
)
SELECT
  {{ sqlrank.group_keys(groups, 'sqlrank_records_metrics.') }}sqlrank_contingency_table_metrics.pairwise_precision AS pairwise_precision,
  sqlrank_contingency_table_metrics.pairwise_recall AS pairwise_recall,
  sqlrank_contingency_table_metrics.pairwise_f AS pairwise_f,
  sqlrank_contingency_table_metrics.bcubed_precision AS bcubed_precision,
  sqlrank_contingency_table_metrics.bcubed_recall AS bcubed_recall,
  sqlrank_contingency_table_metrics.bcubed_f AS bcubed_f,
  COALESCE(sqlrank_contingency_table_metrics.num_records, 0) AS num_records
FROM sqlrank_records_metrics
LEFT JOIN sqlrank_contingency_table_metrics
  ON {% for _ in groups %}(sqlrank_contingency_table_metrics.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_records_metrics.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
{% endmacro %}
