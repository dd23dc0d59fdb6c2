-- overlap_depths: one row per list and rank of a retrieved document, if the baseline answers the query: depth at which both lists have it.
-- Grain: list_id, rank
SELECT
  baseline_overlap.list_id, baseline_overlap.rank,
  baseline_overlap.overlap_depth -- NULL if the baseline doesn't have it
FROM baseline_overlap
JOIN list_length_changes ON list_length_changes.list_id = baseline_overlap.list_id
