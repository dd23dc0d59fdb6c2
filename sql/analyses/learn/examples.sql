-- examples: one row per training example: integer keys of the example, its model and its query, label, weight and features.
-- The rows are sorted, so that sums have the same bits for every order of the input.
-- Grain: doc_id
SELECT
  ROW_NUMBER() OVER (ORDER BY model, query_id, label, features, weight) AS doc_id,
  DENSE_RANK() OVER (ORDER BY model) AS model_id,
  DENSE_RANK() OVER (ORDER BY model, query_id) AS query_id,
  model, label, weight, features
FROM training
ORDER BY doc_id
