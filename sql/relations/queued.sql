-- queued: one row per positive with how many predictions, and how many positives, stand in cells below its own or before it
-- in its cell, negatives first; what is sorted is one integer made of the cell and the label, which is faster than a double.
-- Engine: duckdb.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
  packed,
  CASE WHEN one_before >= packed - 1 OR one_after = packed THEN 0 ELSE 1 END AS is_alone,
  place - 1 AS rows_before,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY packed) - 1 AS positives_before
FROM (
  SELECT
    group_id,
    score,
    packed,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY packed) AS place,
    LAG(packed) OVER (PARTITION BY group_id ORDER BY packed) AS one_before,
    LEAD(packed) OVER (PARTITION BY group_id ORDER BY packed) AS one_after
  FROM (
    SELECT
      group_id,
      score,
      cell(height) + CASE WHEN label = 1 THEN 1 ELSE 0 END AS packed
    FROM (
      SELECT
        p.group_id,
        p.label,
        p.score,
        (root(p.score) - a.low) * a.scale AS height
      FROM predictions AS p
      CROSS JOIN axis AS a
    ) AS high
  ) AS keys
) AS ordered
WHERE packed % 2 = 1
