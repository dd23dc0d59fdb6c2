-- slopes: one row per model and feature with the sum over queries of the sub-gradient of the surrogate. A feature that only
-- examples without a gradient have may have no row.
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
  FROM papgradient AS g
  JOIN examples AS e ON e.doc_id = g.doc_id
  WHERE g.gradient <> 0
) AS terms
GROUP BY model_id, feature
