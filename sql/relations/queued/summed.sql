-- queued: one row per positive with the weight of the predictions, and of the positives, of all groups that stand before it, in
-- parts: groups by their number, then cells, then negatives before positives. What is sorted are whole numbers below 2^48 in
-- two columns, which fit the eight bytes that DuckDB sorts fastest, and what has been sorted is added up as it goes by: windows
-- without an order keep that of their rows.
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
    CAST(head AS BIGINT) * 65536 + tail AS packed,
    CAST(head_before AS BIGINT) * 65536 + tail_before AS one_before,
    parts_upto
  FROM (
    SELECT
      group_id,
      score,
      weight,
      head,
      tail,
      LAG(head) OVER () AS head_before,
      LAG(tail) OVER () AS tail_before,
      SUM(whole(weight)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS parts_upto
    FROM (
      SELECT
        group_id,
        score,
        weight,
        CAST(FLOOR(key / 65536) AS UINTEGER) AS head,
        CAST(key - 65536 * FLOOR(key / 65536) AS USMALLINT) AS tail
      FROM (
        SELECT
          group_id,
          score,
          weight,
          first_key + cell(height, last_cell) + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
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
      ) AS numbered
      ORDER BY head, tail
    ) AS ordered
  ) AS passed
  WHERE tail % 2 = 1
) AS positive
