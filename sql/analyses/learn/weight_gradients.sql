-- weight_gradients: one row per model and feature: sub-gradient of the loss with respect to its weight, summed over queries.
-- Features that are only in examples without a gradient may have no rows.
-- Grain: model_id, feature
SELECT
  model_id, feature,
  SUM(gradient * value) AS slope
FROM (
  -- one row per training example with a gradient, and feature
  SELECT
    score_gradients.model_id, score_gradients.gradient,
    UNNEST(examples.features) AS value,
    GENERATE_SUBSCRIPTS(examples.features, 1) AS feature
  FROM score_gradients
  JOIN examples ON examples.doc_id = score_gradients.doc_id
  WHERE score_gradients.gradient <> 0
) AS gradient_terms
GROUP BY model_id, feature
