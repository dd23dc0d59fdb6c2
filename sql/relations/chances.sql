-- chances: one row per size of a predicted cluster, size of a true one and number of records that they can share at random: how
-- probable that number is beside one less, then beside the least possible, as logarithms. What is least possible is 0, which has
-- no row, unless both clusters hold more than half of the records.
-- Check: many_terms
SELECT
  group_id,
  predicted_size,
  true_size,
  clusters,
  records,
  ordinal,
  SUM(step) OVER (
    PARTITION BY group_id, predicted_size, true_size ORDER BY ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS climbed
FROM (
  SELECT
    p.group_id,
    p.size AS predicted_size,
    t.size AS true_size,
    p.clusters * t.clusters AS clusters,
    e.records,
    o.ordinal,
    COALESCE(
      LN((p.size - o.ordinal + 1) * (t.size - o.ordinal + 1) / NULLIF(o.ordinal * (e.records - p.size - t.size + o.ordinal), 0)), 0
    ) AS step
  FROM predicted_sizes AS p
  JOIN true_sizes AS t
    ON p.group_id = t.group_id
  JOIN evaluated AS e
    ON p.group_id = e.group_id
  JOIN ordinals AS o
    ON p.group_id = o.group_id AND o.ordinal <= p.size AND o.ordinal <= t.size AND o.ordinal >= p.size + t.size - e.records
) AS stepped
