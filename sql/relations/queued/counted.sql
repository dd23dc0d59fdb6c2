-- queued: one row per positive with how many predictions, and how many positives, of all groups stand before it: groups by their
-- number, then cells, then negatives before positives. What is sorted are whole numbers below 2^48 in two columns, which fit the
-- eight bytes that DuckDB sorts fastest, and what has been sorted is counted as it goes by: windows without an order keep that of
-- their rows.
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
  CAST(1 AS DOUBLE) AS positives,
  CAST(1 AS DOUBLE) AS squares,
  CAST(rows_upto - 1 AS DOUBLE) AS all_before,
  CAST(ROW_NUMBER() OVER () - 1 AS DOUBLE) AS positives_before
FROM (
  SELECT
    group_id,
    score,
    CAST(head AS BIGINT) * 65536 + tail AS packed,
    CAST(head_before AS BIGINT) * 65536 + tail_before AS one_before,
    rows_upto
  FROM (
    SELECT
      group_id,
      score,
      head,
      tail,
      LAG(head) OVER () AS head_before,
      LAG(tail) OVER () AS tail_before,
      ROW_NUMBER() OVER () AS rows_upto
    FROM (
      SELECT
        group_id,
        score,
        CAST(FLOOR(key / 65536) AS UINTEGER) AS head,
        CAST(key - 65536 * FLOOR(key / 65536) AS USMALLINT) AS tail
      FROM (
        SELECT
          group_id,
          score,
          first_key + cell(height, last_cell) + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
        FROM (
          SELECT
            p.group_id,
            p.label,
            p.score,
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
