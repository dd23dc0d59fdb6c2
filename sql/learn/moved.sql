-- moved: one row per model with its weights after a step of length $eta / sqrt(t) against the sub-gradient.
-- Never zero: w.step + 1, l.queries.
SELECT
  model_id,
  LIST(weight ORDER BY feature) AS weights
FROM (
  SELECT
    w.model_id,
    w.feature,
    w.weight - $eta / SQRT(w.step + 1) * (COALESCE(s.slope, 0) / l.queries + $l2 * w.weight) AS weight
  FROM (
    SELECT model_id, step, UNNEST(weights) AS weight, GENERATE_SUBSCRIPTS(weights, 1) AS feature
    FROM current
  ) AS w
  JOIN losses AS l ON l.model_id = w.model_id
  LEFT JOIN slopes AS s ON s.model_id = w.model_id AND s.feature = w.feature
) AS terms
GROUP BY model_id
