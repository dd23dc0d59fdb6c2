-- candidate_examples: one row per training example and candidate: keys, label, and score, the dot product of features and weights.
-- $candidates: weights of each candidate.
-- Grain: model_id, doc_id
SELECT
  candidates.model_id, examples.query_id, examples.doc_id, examples.label,
  LIST_DOT_PRODUCT(examples.features, candidates.weights) AS score
FROM examples
CROSS JOIN (
  -- one row per candidate
  SELECT
    GENERATE_SUBSCRIPTS(CAST($candidates AS DOUBLE[][]), 1) AS model_id,
    UNNEST(CAST($candidates AS DOUBLE[][])) AS weights
) AS candidates
