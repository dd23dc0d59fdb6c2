-- sqlrank 0.1.0 for Snowflake: CatalogCoverage@10, Personalization@10, one row
-- reads: shop.eval.shown (run), shop.eval.items (items)
-- made by: sqlrank sql CatalogCoverage@10 Personalization@10 --run shop.eval.shown --input items=shop.eval.items --dialect snowflake
WITH run AS (
  -- One row per query and retrieved document. (shop.eval.shown)
  SELECT query_id, doc_id, CAST(score AS DOUBLE) + 0 AS score
  FROM shop.eval.shown
), evaluated_queries AS (
  -- One row per query that has retrieved documents, judged or not.
  -- (relations/evaluated_queries/retrieved.sql)
  SELECT query_id
  FROM run
  GROUP BY query_id
), retrieved_documents AS (
  -- One row per query and retrieved document, judged or not.
  -- (relations/retrieved_documents/all.sql)
  SELECT ranked_lists.query_id, run.doc_id, run.score
  FROM run
  JOIN evaluated_queries AS ranked_lists ON ranked_lists.query_id = run.query_id
), ranked_documents AS (
  -- One row per query and retrieved document, ranked by score; ties by doc_id, greatest first, as
  -- in trec_eval. (relations/ranked_documents/doc_desc.sql)
  SELECT
    query_id, doc_id,
    rank,  -- position in the list, from 1
    list_length AS list_length  -- documents in the list, at most the depth
  FROM (
    -- One row per query and retrieved document.
    SELECT
      query_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS rank,
      COUNT(*) OVER (PARTITION BY query_id) AS list_length
    FROM retrieved_documents
  ) AS numbered_documents
), recommendation_counts AS (
  -- One row per document that is among the first k of any of its lists.
  -- (relations/recommendation_counts.sql)
  SELECT
    weighted_recommendations.doc_id,
    -- sum over these lists of 1 / sqrt(length)
    SUM(weighted_recommendations.inverse_norm) AS norm_sum,
    -- sum over these lists of 1 / length
    SUM(weighted_recommendations.inverse_norm * weighted_recommendations.inverse_norm) AS norm_square_sum,
    -- lists that have the document at rank 1
    SUM(CASE WHEN weighted_recommendations.rank = 1 THEN 1 ELSE 0 END) AS num_first_ranks
  FROM (
    -- One row per list and document among its first k.
    SELECT
      query_id, doc_id, rank,
      -- of its documents, at most k
      1 / SQRT(CAST(CASE WHEN list_length > 10 THEN 10 ELSE list_length END AS DOUBLE)) AS inverse_norm
    FROM ranked_documents
    WHERE rank <= 10
  ) AS weighted_recommendations
  JOIN evaluated_queries AS list_groups ON list_groups.query_id = weighted_recommendations.query_id
  GROUP BY weighted_recommendations.doc_id
), items AS (
  -- One row per item of the catalog. (shop.eval.items)
  SELECT doc_id
  FROM shop.eval.items
), group_catalog AS (
  -- One row per distinct item of the catalog. (relations/group_catalog.sql)
  SELECT doc_id
  FROM items AS catalog_items
  GROUP BY doc_id
), recommended_items AS (
  -- One row per document that is among the first k of any of its lists, in the catalog or not.
  -- (relations/recommended_items.sql)
  SELECT
    CASE WHEN group_catalog.doc_id IS NULL THEN 0 ELSE 1 END AS is_in_catalog,  -- 1 or 0
    catalog_sizes.catalog_size  -- items of the catalog
  FROM recommendation_counts
  LEFT JOIN group_catalog ON group_catalog.doc_id = recommendation_counts.doc_id
  LEFT JOIN (
    -- One row, for a group with a catalog.
    SELECT COUNT(*) AS catalog_size
    FROM group_catalog
  ) AS catalog_sizes
    ON TRUE
), recommended_items_metrics AS (
  -- One row.
  SELECT
    -- CatalogCoverage: share of the catalog that is among the first k of any list.
    CAST(SUM(is_in_catalog) AS DOUBLE) / NULLIF(MAX(catalog_size), 0) AS catalog_coverage_at_10
  FROM recommended_items
), recommendation_counts_metrics AS (
  -- One row.
  SELECT
    -- Personalization: how different the lists are: one less the cosine of the first k of two
    -- lists, on the mean over pairs.
    1
    - SUM(norm_sum * norm_sum - norm_square_sum)
    / NULLIF(SUM(num_first_ranks) * (SUM(num_first_ranks) - 1), 0) AS personalization_at_10
  FROM recommendation_counts
)
SELECT
  recommended_items_metrics.catalog_coverage_at_10 AS catalog_coverage_at_10,
  recommendation_counts_metrics.personalization_at_10 AS personalization_at_10
FROM recommended_items_metrics
CROSS JOIN recommendation_counts_metrics;
