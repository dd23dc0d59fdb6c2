-- candidate_examples: one row per training example and candidate: keys, label, and score, the dot product of features and weights.
-- $candidates: weights of each candidate.
-- Grain: model_id, doc_id
SELECT
  c.model_id,
  e.query_id,
  e.doc_id,
  e.label,
  LIST_DOT_PRODUCT(e.features, c.weights) AS score
FROM examples AS e
CROSS JOIN (
  SELECT
    GENERATE_SUBSCRIPTS(CAST($candidates AS DOUBLE[][]), 1) AS model_id,
    UNNEST(CAST($candidates AS DOUBLE[][])) AS weights
) AS c
