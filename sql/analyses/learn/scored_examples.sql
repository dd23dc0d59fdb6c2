-- scored_examples: one row per training example: keys, label, weight, and score, the dot product of its features and the weights.
-- Grain: doc_id
SELECT
  examples.model_id, examples.query_id, examples.doc_id, examples.label, examples.weight,
  LIST_DOT_PRODUCT(examples.features, current_weights.weights) AS score
FROM examples
JOIN current_weights ON current_weights.model_id = examples.model_id
