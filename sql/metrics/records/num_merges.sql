-- num_merges: number of merges that make true clusters whole, once predicted ones are cut.
--     num_merges = overlaps - true clusters, a row being an overlap of two clusters
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) - SUM(counts_true) AS num_merges
FROM contingency_table
GROUP BY group_id
