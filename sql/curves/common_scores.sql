-- CommonScores: scores that a large share of the weight has, from the highest down, such as defaults and the leaves of trees.
-- $min_share: number from 0 to 1, default 0.0025: the share of the weight above which a score is common.
-- Undefined: no scores of no weight.
-- Source: ours; bins of a rollup that hold one score say nothing wrong about its order.
SELECT
  group_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY score DESC) AS point,
  score,
  weight,
  weight / NULLIF(all_weight, 0) AS portion
FROM (
  SELECT
    group_id,
    score,
    weight,
    SUM(weight) OVER (PARTITION BY group_id) AS all_weight
  FROM (
    SELECT
      group_id,
      score,
      SUM(weight) AS weight
    FROM predictions
    GROUP BY group_id, score
  ) AS each
) AS shared
WHERE weight > $min_share * all_weight
