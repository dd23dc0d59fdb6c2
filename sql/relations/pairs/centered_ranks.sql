-- centered_ranks: one row per group, distinct label and score: weight, cubic term for ties, and mean ranks by label and by score, centered.
-- A centered average rank is half of the weight at or below the value less the weight at or above it. The cubic terms of a group sum to a
-- third of the cube of its total weight less the cubes of the weights of its predictions.
-- Grain: group_id, label, score
SELECT
  group_id, label, score,
  weight, -- of the predictions of this label and score
  cubic_weight_term, -- of the correction for ties, summed over rows
  (
    SUM(weight) OVER (PARTITION BY group_id ORDER BY label)
    - SUM(weight) OVER (PARTITION BY group_id ORDER BY label DESC)
  ) / 2 AS centered_label_rank, -- average rank by label, less the mean rank
  (
    SUM(weight) OVER (PARTITION BY group_id ORDER BY score)
    - SUM(weight) OVER (PARTITION BY group_id ORDER BY score DESC)
  ) / 2 AS centered_score_rank -- average rank by score, less the mean rank
FROM (
  -- one row per group, distinct label and score
  SELECT
    group_id, label, score,
    SUM(weight) AS weight,
    SUM(weight * weight_before * (weight_before + weight)) AS cubic_weight_term
  FROM (
    -- one row per prediction
    SELECT
      predictions.*,
      weight_before(group_id, weight) AS weight_before
    FROM predictions
    WHERE weight > 0
  ) AS ordered_predictions
  GROUP BY group_id, label, score
) AS label_score_sums
