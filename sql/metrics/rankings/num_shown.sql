-- num_shown: number of distinct documents among the first k of all lists.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank; the numerator of catalog coverage.
SELECT
  group_id,
  SUM(CASE WHEN best_rank <= $k THEN 1 ELSE 0 END) AS num_shown
FROM best_document_ranks
GROUP BY group_id
