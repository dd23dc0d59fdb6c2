-- relevant: one row per relevant document; hit counts them in the order of their ranks, unretrieved ones last.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
SELECT
  list_id,
  relevance,
  rank,
  num_ret,
  docs,
  chance,
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY place) AS hit,
  SUM(docs) OVER (PARTITION BY list_id) AS num_rel
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    num_ret,
    docs,
    chance,
    CASE WHEN docs = 0 THEN 2147483647 WHEN rank IS NULL THEN 2147483646 ELSE rank END AS place
  FROM judged
  WHERE relevance >= $rel
) AS placed
