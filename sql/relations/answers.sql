-- answers: one row per list that holds at least one document; num_ret is how many.
-- $depth: integer from 1, default all: how many documents of a list are read.
SELECT
  list_id,
  CASE WHEN COUNT(*) > $depth THEN $depth ELSE COUNT(*) END AS num_ret
FROM retrieved
GROUP BY list_id
