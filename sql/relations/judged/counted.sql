-- judged: one row per judged document with its rank, NULL where it was not retrieved; equal scores by doc_id, greatest first,
-- as trec_eval. The documents from the top of the list down to each judged one are counted, and nothing is sorted.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Costly: every list is ranked.
SELECT
  j.list_id,
  j.relevance,
  c.rank,
  CASE WHEN c.retrieved_docs > $depth THEN $depth ELSE c.retrieved_docs END AS num_ret,
  CAST(COALESCE(c.docs, 1) AS DOUBLE) AS docs,
  CAST(1 AS DOUBLE) AS chance
FROM judgments AS j
LEFT JOIN (
  SELECT
    list_id,
    doc_id,
    docs,
    rank,
    retrieved_docs
  FROM (
    SELECT
      h.list_id,
      h.doc_id,
      h.score,
      h.docs,
      CAST(SUM(
        CASE WHEN r.score > h.score OR (r.score = h.score AND r.doc_id >= h.doc_id) THEN 1 ELSE 0 END
      ) AS BIGINT) AS rank,
      COUNT(*) AS retrieved_docs
    FROM hits AS h
    JOIN retrieved AS r ON r.list_id = h.list_id
    GROUP BY h.list_id, h.doc_id, h.score, h.docs
  ) AS counts
  WHERE rank <= $depth
) AS c ON c.list_id = j.list_id AND c.doc_id = j.doc_id
