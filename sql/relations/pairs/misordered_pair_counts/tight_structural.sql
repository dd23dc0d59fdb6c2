-- misordered_pair_counts: one row per group and compared prediction: label, scores, its pairs that add loss, and numbers of each class, without ids.
-- A negative adds the greater of two sums: over the lowest positives with a lower margin score than its own, or over all of the lowest
-- positives and the highest ones with a lower margin score. The lowest positives are all but the num_compared highest ones. Cumulative
-- counts find both; no pairs are formed.
-- Grain: rows of surrogate_terms
SELECT
  group_id, label, score,
  margin_score, -- score; of the k highest positives less the margin
  CASE
    WHEN label = 0 AND uses_all_positives = 1 THEN num_lowest + num_highest - highest_above
    WHEN label = 0 THEN num_lowest - lowest_above
    WHEN is_lowest = 0 THEN full_negatives_above
    ELSE num_full_negatives + partial_negatives_above
  END AS pair_weight, -- pairs of the prediction that add to the surrogate
  num_compared AS positive_divisor, -- positives that need a margin
  num_negatives -- compared negatives of the group
FROM (
  -- one row per group and compared prediction
  SELECT
    negative_choices.*,
    SUM(uses_all_positives) OVER (PARTITION BY group_id) AS num_full_negatives,
    SUM(uses_all_positives) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS full_negatives_above,
    SUM(1 - label - uses_all_positives) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS partial_negatives_above
  FROM (
    -- one row per group and compared prediction
    SELECT
      sums_of_halves.*,
      CAST(CASE
        WHEN label = 1 THEN 0
        WHEN (num_lowest - lowest_above) * score - (lowest_sum - lowest_sum_above)
          > num_lowest * score - lowest_sum + (num_highest - highest_above) * score - (highest_sum - highest_sum_above) THEN 0
        ELSE 1
      END AS DOUBLE) AS uses_all_positives -- 1 if the sum over all of the lowest is greater
    FROM (
      -- one row per group and compared prediction
      SELECT
        positive_halves.*,
        SUM(1 - label) OVER (PARTITION BY group_id) AS num_negatives,
        SUM(is_lowest) OVER (PARTITION BY group_id) AS num_lowest,
        SUM(is_lowest * margin_score) OVER (PARTITION BY group_id) AS lowest_sum,
        SUM(label - is_lowest) OVER (PARTITION BY group_id) AS num_highest,
        SUM((label - is_lowest) * margin_score) OVER (PARTITION BY group_id) AS highest_sum,
        SUM(is_lowest) OVER (
          PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS lowest_above,
        SUM(is_lowest * margin_score) OVER (
          PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS lowest_sum_above,
        SUM(label - is_lowest) OVER (
          PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS highest_above,
        SUM((label - is_lowest) * margin_score) OVER (
          PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS highest_sum_above
      FROM (
        -- one row per group and compared prediction
        SELECT
          surrogate_terms.*,
          CAST(CASE WHEN label = 1 AND class_rank > num_compared THEN 1 ELSE 0 END AS DOUBLE) AS is_lowest
        FROM surrogate_terms
      ) AS positive_halves
    ) AS sums_of_halves
  ) AS negative_choices
) AS full_negative_counts
