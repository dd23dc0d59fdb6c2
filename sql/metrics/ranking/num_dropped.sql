-- num_dropped: number of rows of run and judgments left out by nulls=drop: they have no score or no grade.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(dropped_rows) AS num_dropped
FROM dropped
GROUP BY list_id
