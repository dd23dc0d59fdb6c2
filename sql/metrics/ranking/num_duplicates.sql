-- num_duplicates: number of rows of run and judgments left out by duplicates=max: other rows hold their documents.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(copies - 1) AS num_duplicates
FROM repeated
GROUP BY list_id
