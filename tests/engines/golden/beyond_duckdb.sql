-- sqlrank 0.1.0 for DuckDB: CatalogCoverage@10, Personalization@10, one row
-- reads: shop.eval.shown (run), shop.eval.items (items)
-- keys: compared columns are taken to have one type (doc_id), since the tables cannot be looked at.
--   Map integers to text where they meet texts, such as items.doc_id to CAST(doc_id AS TEXT)
-- made by: sqlrank sql CatalogCoverage@10 Personalization@10 --run shop.eval.shown --input items=shop.eval.items
WITH run AS NOT MATERIALIZED (
  -- One row per query and retrieved document. (shop.eval.shown)
  SELECT query_id, doc_id, CAST(score AS DOUBLE) AS score FROM shop.eval.shown
), items AS NOT MATERIALIZED (
  -- One row per item of the catalog. (shop.eval.items)
  SELECT doc_id FROM shop.eval.items
), ranked_lists AS (
  -- One row per query to evaluate, even if empty. (ranked_lists/integer_key.sql)
  SELECT
    query_id,
    -- number of the list in this statement
    CAST(ROW_NUMBER() OVER (ORDER BY query_id) AS INT) AS list_id
  FROM run
  GROUP BY query_id
), ranked_documents AS (
  -- One row per query and retrieved document, with its rank. (ranked_documents/in_order.sql)
  SELECT
    ranked_lists.list_id, run.doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY ranked_lists.list_id ORDER BY run.score DESC, run.doc_id DESC
    ) AS rank,  -- position in the list, from 1
    -- documents in the list, at most the depth
    COUNT(*) OVER (PARTITION BY ranked_lists.list_id) AS list_length
  FROM run
  INNER JOIN ranked_lists ON ranked_lists.query_id = run.query_id
), weighted_recommendations AS (
  -- One row per query and document among its first 10.
  SELECT
    doc_id, list_id, rank,
    -- of its documents, at most 10
    1 / SQRT(CAST(LEAST(list_length, 10) AS DOUBLE)) AS inverse_norm
  FROM ranked_documents
  WHERE rank <= 10
), recommendation_counts AS (
  -- One row per document in the first 10 of any of its lists. (recommendation_counts.sql)
  SELECT
    weighted_recommendations.doc_id,
    -- sum over these lists of 1 / sqrt(length)
    SUM(weighted_recommendations.inverse_norm) AS norm_sum,
    SUM(
      weighted_recommendations.inverse_norm * weighted_recommendations.inverse_norm
    ) AS norm_square_sum,  -- sum over these lists of 1 / length
    -- lists that have the document at rank 1
    SUM(CASE WHEN weighted_recommendations.rank = 1 THEN 1 ELSE 0 END) AS num_first_ranks
  FROM weighted_recommendations
  INNER JOIN ranked_lists ON ranked_lists.list_id = weighted_recommendations.list_id
  GROUP BY weighted_recommendations.doc_id
), group_catalog AS (
  -- One row per distinct item of the catalog. (group_catalog.sql)
  SELECT doc_id FROM items GROUP BY doc_id
), catalog_sizes AS (
  -- One row, for a group with a catalog.
  SELECT COUNT(*) AS catalog_size FROM group_catalog
), recommended_items_metrics AS (
  -- One row.
  SELECT
    -- CatalogCoverage: share of the catalog that is among the first 10 of any list.
    SUM(CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END)
    / NULLIF(MAX(catalog_sizes.catalog_size), 0) AS catalog_coverage_at_10
  FROM recommendation_counts
  LEFT JOIN group_catalog ON group_catalog.doc_id = recommendation_counts.doc_id
  CROSS JOIN catalog_sizes
), recommendation_counts_metrics AS (
  -- One row.
  SELECT
    -- Personalization: how different the lists are: one less the cosine of the first 10 of two
    -- lists, averaged over pairs.
    1
    - SUM(norm_sum * norm_sum - norm_square_sum)
    / NULLIF(SUM(num_first_ranks) * (SUM(num_first_ranks) - 1), 0) AS personalization_at_10
  FROM recommendation_counts
)
SELECT
  recommended_items_metrics.catalog_coverage_at_10,
  recommendation_counts_metrics.personalization_at_10
FROM recommended_items_metrics
CROSS JOIN recommendation_counts_metrics;
