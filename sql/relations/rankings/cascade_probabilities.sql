-- cascade_probabilities: one row per list and document of positive relevance: its rank, and probabilities that a reader stops there and gets there.
-- Rows have no doc_id.
-- The probability of reaching a document is the product of (1 - stop probability) over the documents ranked above. The product is the
-- exponential of a sum of logarithms; a stop probability of 1 adds -1000, and sums below -700 give 0.
-- stop_probability(): default exp2: the probability that a document of this relevance ends the search.
-- Requires: stop_probability() at most 1.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  rank, -- NULL if not retrieved
  stop_probability, -- that the reader ends the search here
  exp_or_zero(log_reach) AS reach_probability -- that the reader gets here
FROM (
  -- one row per list and judged document of positive relevance
  SELECT
    continue_logs.*,
    COALESCE(SUM(log_continue) OVER (
      PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS log_reach -- logarithm of the probability that the reader gets here
  FROM (
    -- one row per list and judged document of positive relevance
    SELECT
      stop_probabilities.*,
      CASE
        WHEN stop_probability >= 1 THEN -1000
        ELSE LN(CASE WHEN stop_probability < 1 THEN 1 - stop_probability ELSE 1 END)
      END AS log_continue -- logarithm of the probability to read on
    FROM (
      -- one row per list and judged document of positive relevance
      SELECT
        list_id, rank,
        stop_probability(relevance) AS stop_probability -- probability that the reader stops here
      FROM documents_with_gain
    ) AS stop_probabilities
  ) AS continue_logs
) AS reach_logs
