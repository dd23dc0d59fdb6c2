-- misordered_pair_counts: one row per compared prediction, with its number of pairs that add to the tight structural surrogate.
-- A negative adds the greater of two sums: over the lowest positives with a lower margin score than its own, or over all of the lowest
-- positives and the highest ones with a lower margin score. The lowest positives are all but the num_compared highest ones. Cumulative
-- counts find both; no pairs are formed.
-- Grain: rows of surrogate_terms
SELECT
  group_id,
  label,
  score,
  margin_score,
  CASE
    WHEN label = 0 AND uses_all_positives = 1 THEN all_lowest + highest - highest_above
    WHEN label = 0 THEN all_lowest - lowest_above
    WHEN is_lowest = 0 THEN takers_above
    ELSE all_takers + others_above
  END AS num_pairs,
  num_compared,
  all_negatives AS negatives
FROM (
  SELECT
    group_id,
    label,
    score,
    margin_score,
    num_compared,
    is_lowest,
    uses_all_positives,
    all_negatives,
    all_lowest,
    lowest_above,
    highest,
    highest_above,
    SUM(uses_all_positives) OVER (PARTITION BY group_id) AS all_takers,
    SUM(uses_all_positives) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS takers_above,
    SUM(1 - label - uses_all_positives) OVER (
      PARTITION BY group_id ORDER BY margin_score DESC, label DESC, class_rank DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS others_above
  FROM (
    SELECT
      group_id,
      label,
      score,
      class_rank,
      margin_score,
      num_compared,
      is_lowest,
      all_negatives,
      all_lowest,
      lowest_above,
      highest,
      highest_above,
      CAST(CASE
        WHEN label = 1 THEN 0
        WHEN (all_lowest - lowest_above) * score - (lowest_sum - lowest_sum_above)
          > all_lowest * score - lowest_sum + (highest - highest_above) * score - (highest_sum - highest_sum_above) THEN 0
        ELSE 1
      END AS DOUBLE) AS uses_all_positives
    FROM (
      SELECT
        group_id,
        label,
        score,
        class_rank,
        margin_score,
        num_compared,
        is_lowest,
        SUM(1 - label) OVER (PARTITION BY group_id) AS all_negatives,
        SUM(is_lowest) OVER (PARTITION BY group_id) AS all_lowest,
        SUM(is_lowest * margin_score) OVER (PARTITION BY group_id) AS lowest_sum,
        SUM(label - is_lowest) OVER (PARTITION BY group_id) AS highest,
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
        SELECT
          group_id,
          label,
          score,
          class_rank,
          margin_score,
          num_compared,
          CAST(CASE WHEN label = 1 AND class_rank > num_compared THEN 1 ELSE 0 END AS DOUBLE) AS is_lowest
        FROM surrogate_terms
      ) AS halves
    ) AS running
  ) AS choices
) AS taken
