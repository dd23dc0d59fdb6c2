-- misordered_pair_counts: one row per compared prediction, with its weight in the most violated top k.
-- That is the top k, of some highest positives and some highest negatives, in which the sum of the negatives' scores most exceeds as
-- many times the mean margin score of the positives left out. These positives share the weight of the negatives.
-- $k: integer from 1: number of predictions in the top k.
-- Grain: rows of surrogate_terms
SELECT
  group_id,
  label,
  score,
  margin_score,
  CASE
    WHEN num_kept < worst_kept OR worst_kept IS NULL THEN 0
    WHEN label = 0 THEN 1
    ELSE MAX(CASE WHEN label = 1 AND num_kept = worst_kept THEN per_positive END) OVER (PARTITION BY group_id)
  END AS num_pairs,
  CASE WHEN worst IS NULL THEN 0 ELSE 1 END AS num_compared,
  SUM(1 - label) OVER (PARTITION BY group_id) AS negatives
FROM (
  SELECT
    group_id,
    label,
    score,
    margin_score,
    num_kept,
    per_positive,
    worst,
    MAX(CASE WHEN violation = worst AND worst > 0 THEN num_kept END) OVER (PARTITION BY group_id) AS worst_kept
  FROM (
    SELECT
      group_id,
      label,
      score,
      margin_score,
      num_kept,
      per_positive,
      violation,
      MAX(violation) OVER (PARTITION BY group_id) AS worst
    FROM (
      SELECT
        group_id,
        label,
        score,
        margin_score,
        num_kept,
        negatives_in / NULLIF(positives_out, 0) AS per_positive,
        CASE
          WHEN label = 1 AND num_kept < $k AND negatives_in > 0
            THEN negative_sum - negatives_in / NULLIF(positives_out, 0) * positive_sum
        END AS violation
      FROM (
        SELECT
          group_id,
          label,
          score,
          margin_score,
          num_kept,
          SUM(negative) OVER (
            PARTITION BY group_id ORDER BY num_kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS negatives_in,
          SUM(label) OVER (
            PARTITION BY group_id ORDER BY num_kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS positives_out,
          SUM(negative * score) OVER (
            PARTITION BY group_id ORDER BY num_kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS negative_sum,
          SUM(label * margin_score) OVER (
            PARTITION BY group_id ORDER BY num_kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS positive_sum
        FROM (
          SELECT
            group_id,
            label,
            score,
            margin_score,
            1 - label AS negative,
            CASE WHEN label = 1 THEN class_rank - 1 ELSE $k - class_rank END AS num_kept
          FROM surrogate_terms
        ) AS tops
      ) AS running
    ) AS candidates
  ) AS judged
) AS found
