-- predictions_with_threshold: one row per prediction in a score range with a positive, and one per group and range without one.
-- Each is assigned to the lowest score of a positive at or above its own, which is the same for all of a range without positives.
-- Engines: duckdb.
-- Grain: many per group_id
SELECT
  group_id,
  label,
  score, -- the lowest one of a range without positives
  weight, -- the sum of a range without positives
  MIN(CASE WHEN label = 1 THEN score END) OVER (
    PARTITION BY group_id ORDER BY score DESC
  ) AS threshold_score -- NULL above the highest score of a positive
FROM (
  -- one row per prediction, or per group and range without a positive
  SELECT
    ranged_predictions.group_id,
    ranged_predictions.label,
    ranged_predictions.score,
    ranged_predictions.weight
  FROM (
    -- one row per prediction
    SELECT
      group_id,
      label,
      score,
      weight,
      CAST(score_cell(range_position, max_range) AS BIGINT) AS score_range
    FROM (
      -- one row per prediction
      SELECT
        predictions.group_id,
        predictions.label,
        predictions.score,
        predictions.weight,
        SQRT(0.5 * CAST(predictions.score AS DOUBLE) - range_scale.half_min_score) * range_scale.ranges_per_unit AS range_position,
        range_scale.max_range
      FROM predictions
      CROSS JOIN range_scale
    ) AS range_positions
  ) AS ranged_predictions
  JOIN (
    -- one row per group and score range with a positive
    SELECT
      group_id,
      score_range
    FROM score_ranges
    WHERE has_positives = 1
  ) AS positive_ranges
    ON positive_ranges.group_id = ranged_predictions.group_id
    AND positive_ranges.score_range = ranged_predictions.score_range
  UNION ALL
  SELECT
    group_id,
    0 AS label,
    min_score AS score,
    weight
  FROM score_ranges
  WHERE has_positives = 0
) AS threshold_candidates
