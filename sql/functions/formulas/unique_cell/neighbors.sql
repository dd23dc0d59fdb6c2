-- unique_cell: 1 if no prediction before or after a positive in the order of sort keys is in its cell, else 0.
CREATE MACRO unique_cell(previous_key, positive_key, next_key) AS CASE
  WHEN previous_key > positive_key THEN CAST('DuckDB did not keep the order that rows were sorted in' AS BIGINT)
  WHEN previous_key = positive_key OR previous_key = positive_key - 1 OR next_key = positive_key THEN 0
  ELSE 1
END
