-- overlap_depths: one row per list and rank of a retrieved document, if the baseline answers the query: depth at which both have it, and lengths.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id, rank
SELECT
  baseline_overlap.list_id, baseline_overlap.rank,
  CASE
    WHEN baseline_overlap.rank > $k OR baseline_overlap.baseline_rank > $k THEN CAST(NULL AS BIGINT)
    WHEN baseline_overlap.rank > baseline_overlap.baseline_rank THEN baseline_overlap.rank
    ELSE baseline_overlap.baseline_rank
  END AS overlap_depth, -- NULL if it is not among the first k of both
  CASE WHEN list_length_changes.list_length > $k THEN $k ELSE list_length_changes.list_length END AS list_length, -- at most k
  CASE
    WHEN list_length_changes.baseline_length > $k THEN $k
    ELSE list_length_changes.baseline_length
  END AS baseline_length -- documents of the baseline's list, at most k
FROM baseline_overlap
JOIN list_length_changes ON list_length_changes.list_id = baseline_overlap.list_id
