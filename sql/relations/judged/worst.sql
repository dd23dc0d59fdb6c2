-- judged: one row per judged document with the rank it has when equal scores are ordered worst first.
-- Relevant documents take the last places of their tie group, those of grade 0 or less the first ones.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Costly: every list is ranked.
SELECT
  list_id,
  relevance,
  CASE WHEN place <= $depth THEN place END AS rank,
  CASE WHEN place <= $depth THEN num_ret END AS num_ret,
  CAST(1 AS DOUBLE) AS docs,
  CAST(1 AS DOUBLE) AS chance
FROM (
  SELECT
    j.list_id,
    j.relevance,
    r.num_ret,
    CASE
      WHEN j.relevance > 0
        THEN r.last_rank + 1 - ROW_NUMBER() OVER (
          PARTITION BY j.list_id, r.first_rank ORDER BY j.relevance DESC, j.doc_id
        )
      ELSE r.first_rank - 1 + ROW_NUMBER() OVER (
        PARTITION BY j.list_id, r.first_rank ORDER BY j.relevance, j.doc_id DESC
      )
    END AS place
  FROM judgments AS j
  LEFT JOIN ranked AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
) AS ordered
