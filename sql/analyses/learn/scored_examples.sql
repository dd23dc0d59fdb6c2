-- scored_examples: one row per training example: keys, label, weight, and score, the dot product of its features and the weights.
-- Grain: doc_id
SELECT
  e.model_id,
  e.query_id,
  e.doc_id,
  e.label,
  e.weight,
  LIST_DOT_PRODUCT(e.features, w.weights) AS score
FROM examples AS e
JOIN current_weights AS w ON w.model_id = e.model_id
