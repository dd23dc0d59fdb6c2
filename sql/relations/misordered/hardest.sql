-- misordered: one row per positive and negative compared, with its part in the worst top $k: the one of which the negatives,
-- the highest there are, exceed the positives left out, the lowest, by most. These share what the negatives weigh.
-- $k: integer from 1: how many predictions are at the top.
SELECT
  group_id,
  label,
  score,
  reach,
  CASE
    WHEN kept < worst_kept OR worst_kept IS NULL THEN 0
    WHEN label = 0 THEN 1
    ELSE MAX(CASE WHEN label = 1 AND kept = worst_kept THEN per_positive END) OVER (PARTITION BY group_id)
  END AS pairs,
  CASE WHEN worst IS NULL THEN 0 ELSE 1 END AS counted,
  SUM(1 - label) OVER (PARTITION BY group_id) AS negatives
FROM (
  SELECT
    group_id,
    label,
    score,
    reach,
    kept,
    per_positive,
    worst,
    MAX(CASE WHEN excess = worst AND worst > 0 THEN kept END) OVER (PARTITION BY group_id) AS worst_kept
  FROM (
    SELECT
      group_id,
      label,
      score,
      reach,
      kept,
      per_positive,
      excess,
      MAX(excess) OVER (PARTITION BY group_id) AS worst
    FROM (
      SELECT
        group_id,
        label,
        score,
        reach,
        kept,
        negatives_in / NULLIF(positives_out, 0) AS per_positive,
        CASE
          WHEN label = 1 AND kept < $k AND negatives_in > 0
            THEN negative_sum - negatives_in / NULLIF(positives_out, 0) * positive_sum
        END AS excess
      FROM (
        SELECT
          group_id,
          label,
          score,
          reach,
          kept,
          SUM(negative) OVER (
            PARTITION BY group_id ORDER BY kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS negatives_in,
          SUM(label) OVER (
            PARTITION BY group_id ORDER BY kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS positives_out,
          SUM(negative * score) OVER (
            PARTITION BY group_id ORDER BY kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS negative_sum,
          SUM(label * reach) OVER (
            PARTITION BY group_id ORDER BY kept DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS positive_sum
        FROM (
          SELECT
            group_id,
            label,
            score,
            reach,
            1 - label AS negative,
            CASE WHEN label = 1 THEN place - 1 ELSE $k - place END AS kept
          FROM compared
        ) AS tops
      ) AS running
    ) AS candidates
  ) AS judged
) AS found
