-- scored: one row per example with its score, the product of features and weights.
SELECT
  e.model_id,
  e.query_id,
  e.doc_id,
  e.label,
  LIST_DOT_PRODUCT(e.features, w.weights) AS score
FROM examples AS e
JOIN current AS w ON w.model_id = e.model_id
