-- feature_vectors: one row per training example: label, weight, and features as an array in the order of their names, 0 if missing.
-- Grain: model, query_id, row_id
SELECT
  r.model,
  r.query_id,
  r.row_id,
  r.label,
  r.weight,
  [COALESCE(r.values_by_feature[name], 0) FOR name IN n.names] AS features
FROM (
  SELECT model, query_id, row_id, label, weight, MAP(LIST(feature), LIST(value)) AS values_by_feature
  FROM training
  GROUP BY model, query_id, row_id, label, weight
) AS r
CROSS JOIN (
  SELECT LIST(feature ORDER BY feature) AS names
  FROM (
    SELECT feature
    FROM training
    GROUP BY feature
  ) AS present
) AS n
