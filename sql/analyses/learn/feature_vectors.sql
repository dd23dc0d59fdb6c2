-- feature_vectors: one row per training example: label, weight, and features as an array in the order of their names, 0 if missing.
-- Grain: model, query_id, row_id
SELECT
  example_features.model, example_features.query_id, example_features.row_id,
  example_features.label, example_features.weight,
  [COALESCE(example_features.values_by_feature[name], 0) FOR name IN name_lists.names] AS features
FROM (
  -- one row per training example
  SELECT model, query_id, row_id, label, weight, MAP(LIST(feature), LIST(value)) AS values_by_feature
  FROM training
  GROUP BY model, query_id, row_id, label, weight
) AS example_features
CROSS JOIN (
  -- one row: the names of all features
  SELECT LIST(feature ORDER BY feature) AS names
  FROM (
    -- one row per feature
    SELECT feature
    FROM training
    GROUP BY feature
  ) AS feature_names
) AS name_lists
