-- examples: one row per example, with numbers for itself, its model and its query; in an order of their own, so that sums are
-- the same to the last bit whatever order they came in.
SELECT
  ROW_NUMBER() OVER (ORDER BY model, query_id, label, features) AS doc_id,
  DENSE_RANK() OVER (ORDER BY model) AS model_id,
  DENSE_RANK() OVER (ORDER BY model, query_id) AS query_id,
  model,
  label,
  features
FROM training
ORDER BY doc_id
