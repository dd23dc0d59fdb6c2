-- cascade: one row per document of positive relevance; a reader who stops at a document with probability stop has
-- come as far as this one with probability reach: the product of (1 - stop) over the documents ranked before.
-- The product is the exponential of a sum of logarithms; a certain stop adds -1000, below which it is 0.
-- stop(): default exp2: the probability that a document of this relevance ends the search.
-- Probability: stop.
SELECT
  list_id,
  rank,
  stop,
  CASE WHEN log_reach < -700 THEN 0 ELSE EXP(log_reach) END AS reach
FROM (
  SELECT
    list_id,
    rank,
    stop,
    COALESCE(SUM(log_go_on) OVER (
      PARTITION BY list_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS log_reach
  FROM (
    SELECT
      list_id,
      rank,
      place,
      stop,
      CASE WHEN stop >= 1 THEN -1000 ELSE LN(CASE WHEN stop < 1 THEN 1 - stop ELSE 1 END) END AS log_go_on
    FROM (
      SELECT
        list_id,
        rank,
        CASE WHEN rank IS NULL THEN 2147483647 ELSE rank END AS place,
        stop(relevance) AS stop
      FROM valued
    ) AS stops
  ) AS logs
) AS survival
