-- small_group_pairs: one row per group of 2 to 32 predictions, not all equal: weights of concordant, discordant, score-tied and label-tied pairs.
-- Predictions of weight 0 are left out.
-- Pairs are compared one by one in a self-join, which is fastest for small groups.
-- Grain: group_id
SELECT
  lower_predictions.group_id,
  SUM(
    CASE
      WHEN lower_predictions.score < higher_predictions.score AND lower_predictions.label < higher_predictions.label
        THEN lower_predictions.weight * higher_predictions.weight
      ELSE 0
    END
  ) AS concordant, -- weight of pairs of the same order
  SUM(
    CASE
      WHEN lower_predictions.score < higher_predictions.score AND lower_predictions.label > higher_predictions.label
        THEN lower_predictions.weight * higher_predictions.weight
      ELSE 0
    END
  ) AS discordant, -- weight of pairs of opposite order
  SUM(
    CASE WHEN lower_predictions.score = higher_predictions.score THEN lower_predictions.weight * higher_predictions.weight ELSE 0 END
  ) AS score_ties, -- weight of pairs tied in score only
  SUM(
    CASE WHEN lower_predictions.label = higher_predictions.label THEN lower_predictions.weight * higher_predictions.weight ELSE 0 END
  ) AS label_ties -- weight of pairs tied in label only
FROM predictions_with_group_size AS lower_predictions
JOIN predictions_with_group_size AS higher_predictions
  ON higher_predictions.group_id = lower_predictions.group_id
WHERE lower_predictions.num_predictions <= 32
  AND higher_predictions.num_predictions <= 32
  AND (
    lower_predictions.score < higher_predictions.score
    OR (lower_predictions.score = higher_predictions.score AND lower_predictions.label > higher_predictions.label)
  )
GROUP BY lower_predictions.group_id
