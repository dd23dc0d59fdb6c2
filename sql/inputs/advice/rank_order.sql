-- rank_order: one row per list of a run in which scores and ranks differ: their covariance in units of their ranges.
-- It is 1 / 12 for many equal steps, and 1 / 4 for two documents, and below 0 where scores fall as ranks rise.
-- Grain: query_id
SELECT
  query_id,
  (AVG(CAST(score AS DOUBLE) * rank) - AVG(score) * AVG(rank))
    / NULLIF((MAX(score) - MIN(score)) * (MAX(rank) - MIN(rank)), 0) AS slope -- Spark divides before it leaves groups out
FROM run
GROUP BY query_id
HAVING MIN(score) < MAX(score) AND MIN(rank) < MAX(rank)
