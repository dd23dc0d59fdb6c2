-- weight_gradients: one row per model and feature: sub-gradient of the loss with respect to its weight, summed over queries.
-- Features that are only in examples without a gradient may have no rows.
-- Grain: model_id, feature
SELECT
  model_id,
  feature,
  SUM(gradient * value) AS slope
FROM (
  SELECT
    g.model_id,
    g.gradient,
    UNNEST(e.features) AS value,
    GENERATE_SUBSCRIPTS(e.features, 1) AS feature
  FROM score_gradients AS g
  JOIN examples AS e ON e.doc_id = g.doc_id
  WHERE g.gradient <> 0
) AS terms
GROUP BY model_id, feature
