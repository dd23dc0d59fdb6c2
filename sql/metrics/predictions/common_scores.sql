-- CommonScores: one row per group and score of a large share of the weight, such as a default, highest first: score, weight and share.
-- Use when: scores tie, and you suspect default or rounded values.
-- $min_share: number from 0 to 1, default 0.0025: the share of the weight above which a score is common.
-- Undefined: no scores of no weight.
-- Source: ours; bins of a rollup that hold one score say nothing wrong about its order.
SELECT
  group_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY score DESC) AS point, -- number of the score, from 1 for the highest
  score,
  weight, -- of the predictions of this score
  weight / NULLIF(total_weight, 0) AS portion -- their share of the weight
FROM (
  -- one row per group and distinct score
  SELECT
    score_weights.*,
    SUM(weight) OVER (PARTITION BY group_id) AS total_weight
  FROM (
    -- one row per group and distinct score
    SELECT
      group_id, score,
      SUM(weight) AS weight
    FROM predictions
    GROUP BY group_id, score
  ) AS score_weights
) AS score_shares
WHERE weight > $min_share * total_weight
