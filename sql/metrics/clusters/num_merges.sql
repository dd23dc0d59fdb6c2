-- num_merges: number of merges that make true clusters whole, once predicted ones are cut.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) - SUM(true_first) AS num_merges
FROM contingency
GROUP BY group_id
