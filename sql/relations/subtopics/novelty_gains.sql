-- novelty_gains: one row per list, subtopic and relevant document, and one per rank of the ideal list: rank and gain in one of both lists.
-- Rows have no ids.
-- Grain: many per list_id
SELECT
  list_id,
  rank, -- NULL if not retrieved, and in rows of the ideal list
  novelty(subtopic_hits - 1) AS gain, -- for the subtopic; 0 in the ideal list
  CAST(NULL AS BIGINT) AS ideal_rank, -- NULL if not in the ideal list
  CAST(0 AS DOUBLE) AS ideal_gain -- for all subtopics; 0 in the ranked list
FROM subtopic_ranks
UNION ALL
SELECT
  list_id,
  CAST(NULL AS BIGINT) AS rank,
  CAST(0 AS DOUBLE) AS gain,
  ideal_rank, ideal_gain
FROM ideal_subtopic_gains
