-- ndcg_at: nDCG@k of one list, in which every relevant document gains 1.
-- $k: integer from 1: cut-off, the number of top-ranked documents that count.
CREATE MACRO ndcg_at(retrieved, relevant, k) AS CASE
  WHEN LEN(relevant) > 0 THEN
    COALESCE(LIST_SUM(LIST_TRANSFORM(relevant_ranks(retrieved, relevant, k), LAMBDA rank : LN(2) / LN(rank + 1))), 0)
    / LIST_SUM(
      LIST_TRANSFORM(
        GENERATE_SERIES(1, CAST(CASE WHEN LEN(LIST_DISTINCT(relevant)) < k THEN LEN(LIST_DISTINCT(relevant)) ELSE k END AS BIGINT)),
        LAMBDA rank : LN(2) / LN(rank + 1)
      )
    )
END
