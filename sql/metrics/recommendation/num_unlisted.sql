-- num_unlisted: number of distinct documents among the first k of all lists that the catalogue does not have.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(1 - is_listed) AS num_unlisted
FROM exposures
GROUP BY group_id
