-- cascade_probabilities: one row per document of positive relevance, with its stop probability and the probability that a reader reaches it.
-- The probability of reaching a document is the product of (1 - stop probability) over the documents ranked above. The product is the
-- exponential of a sum of logarithms; a stop probability of 1 adds -1000, and sums below -700 give 0.
-- stop_probability(): default exp2: the probability that a document of this relevance ends the search.
-- Requires: stop_probability() at most 1.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  rank,
  stop_probability,
  CASE WHEN log_reach < -700 THEN 0 ELSE EXP(log_reach) END AS reach_probability
FROM (
  SELECT
    list_id,
    rank,
    stop_probability,
    COALESCE(SUM(log_continue) OVER (
      PARTITION BY list_id ORDER BY sort_rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS log_reach
  FROM (
    SELECT
      list_id,
      rank,
      sort_rank,
      stop_probability,
      CASE WHEN stop_probability >= 1 THEN -1000 ELSE LN(CASE WHEN stop_probability < 1 THEN 1 - stop_probability ELSE 1 END) END AS log_continue
    FROM (
      SELECT
        list_id,
        rank,
        CASE WHEN rank IS NULL THEN 2147483647 ELSE rank END AS sort_rank,
        stop_probability(relevance) AS stop_probability
      FROM documents_with_gain
    ) AS stops
  ) AS logs
) AS survival
