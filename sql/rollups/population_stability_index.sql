-- population_stability_index: one row per group, with the population stability index of its scores.
-- It is the sum of (share now - share then) * ln(share now / share then) over deciles of the reference weight in the order of scores.
-- Bins are not divided. A share counts as at least 0.0001, since the index of an empty decile would be infinite.
-- Grain: group_number
WITH binned AS (
  SELECT group_number, bin, SUM(then_weight) AS then_weight, SUM(now_weight) AS now_weight
  FROM (
    SELECT group_number, bin, positives + negatives AS then_weight, 0 AS now_weight FROM bins_then
    UNION ALL SELECT group_number, bin, 0 AS then_weight, positives + negatives AS now_weight FROM bins_now
  ) AS both_times
  GROUP BY group_number, bin
),
placed AS (
  SELECT
    group_number,
    then_weight,
    now_weight,
    FLOOR(
      10 * (SUM(then_weight) OVER (PARTITION BY group_number ORDER BY bin) - then_weight / 2)
      / NULLIF(SUM(then_weight) OVER (PARTITION BY group_number), 0)
    ) AS tenth
  FROM binned
),
shares AS (
  SELECT
    group_number,
    SUM(then_weight) / NULLIF(SUM(SUM(then_weight)) OVER (PARTITION BY group_number), 0) AS then_share,
    SUM(now_weight) / NULLIF(SUM(SUM(now_weight)) OVER (PARTITION BY group_number), 0) AS now_share
  FROM placed
  GROUP BY group_number, CASE WHEN tenth > 9 THEN 9 ELSE tenth END
),
floored AS (
  SELECT
    group_number,
    CASE WHEN then_share < 0.0001 THEN 0.0001 ELSE then_share END AS then_share,
    CASE WHEN now_share < 0.0001 THEN 0.0001 ELSE now_share END AS now_share
  FROM shares
)
SELECT
  group_number,
  SUM((now_share - then_share) * LN(now_share / then_share)) AS psi
FROM floored
GROUP BY group_number
