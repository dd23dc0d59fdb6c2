-- cut_lists: one row per list that is not empty: its length within the cut-off.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id
SELECT
  list_id,
  CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE) AS list_length -- at most k
FROM list_lengths
