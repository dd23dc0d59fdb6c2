-- inversions: one row per group of more than 32 predictions: the weight of its pairs that are in opposite order by label and by
-- score. Where all predictions weigh 1, DuckDB ranks each label among those that come before it by score.
SELECT
  group_id,
  discordant
FROM bit_inversions
UNION ALL
SELECT
  group_id,
  SUM(place - 1) AS discordant
FROM (
  SELECT
    p.group_id,
    RANK(ORDER BY p.label DESC) OVER (
      PARTITION BY p.group_id ORDER BY p.score, p.label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place
  FROM sized AS p
  JOIN plain_lists AS l ON l.group_id = p.group_id
  WHERE p.predictions > 32 AND l.is_plain = 1
) AS ranked
GROUP BY group_id
