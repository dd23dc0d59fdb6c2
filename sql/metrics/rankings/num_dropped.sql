-- num_dropped: number of rows of run and judgments left out by nulls=drop: they have no score or no grade.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(row_change) AS num_dropped
FROM dropped_row_counts
GROUP BY list_id
