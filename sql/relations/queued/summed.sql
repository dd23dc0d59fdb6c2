-- queued: one row per positive with the weight of the predictions, and of the positives, of all groups that stand before it, in
-- parts: groups by their number, then cells, then negatives before positives. What is sorted is one integer, which is faster than
-- a double, and what has been sorted is added up as it goes by: windows without an order keep that of their rows.
-- whole(): default weights: how many parts a weight is.
-- Engine: duckdb.
-- Costly: all predictions are put in order.
SELECT
  group_id,
  score,
  packed,
  CASE
    WHEN one_before > packed THEN CAST('DuckDB did not keep the order that rows were sorted in' AS BIGINT)
    WHEN one_before = packed OR one_before = packed - 1 OR LEAD(packed) OVER () = packed THEN 0
    ELSE 1
  END AS is_alone,
  whole(weight) AS positives,
  weight * weight AS squares,
  parts_upto - whole(weight) AS all_before,
  SUM(whole(weight)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - whole(weight) AS positives_before
FROM (
  SELECT
    group_id,
    score,
    weight,
    packed,
    LAG(packed) OVER () AS one_before,
    SUM(whole(weight)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS parts_upto
  FROM (
    SELECT
      group_id,
      score,
      weight,
      first_key + cell(height, last_cell) + CASE WHEN label = 1 THEN 1 ELSE 0 END AS packed
    FROM (
      SELECT
        p.group_id,
        p.label,
        p.score,
        p.weight,
        (root(p.score) - a.low) * a.scale AS height,
        a.last_cell,
        (s.stratum - 1) * a.keys AS first_key
      FROM predictions AS p
      JOIN strata AS s ON s.group_id = p.group_id
      CROSS JOIN axis AS a
    ) AS high
    ORDER BY packed
  ) AS ordered
) AS passed
WHERE packed % 2 = 1
