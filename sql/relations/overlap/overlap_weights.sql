-- overlap_weights: one row per list and rank of a retrieved document: if both lists have it, and weights of depths from it on and to the end.
-- A depth d has the weight p^d / d.
-- Agreement at a depth is extrapolated from the end of the shorter list for documents that both have by then, else from that of the longer.
-- Grain: list_id, rank
SELECT
  last_depths.list_id, last_depths.rank,
  last_depths.is_shared, -- 1 if it is among the first k of both, else 0
  last_depths.is_displaced, -- 1 if the other list has another document there, else 0
  first_weights.weight_from, -- sum over all depths at which both have it
  first_weights.weight_from - last_weights.weight_from + last_weights.depth_weight AS weight_to_end, -- of these, those down to the end of the list
  last_weights.depth_weight AS end_weight -- at the end of the list
FROM (
  -- one row per list and rank of a retrieved document
  SELECT
    list_id, rank,
    CASE WHEN overlap_depth IS NULL THEN 0 ELSE 1 END AS is_shared,
    CASE
      WHEN rank > list_length OR rank > baseline_length OR overlap_depth = rank THEN 0
      ELSE 1
    END AS is_displaced,
    COALESCE(overlap_depth, 1) AS overlap_depth,
    CASE
      WHEN overlap_depth <= list_length AND overlap_depth <= baseline_length
        THEN smaller(list_length, baseline_length)
      WHEN list_length > baseline_length THEN list_length
      ELSE baseline_length
    END AS last_depth
  FROM overlap_depths
) AS last_depths
JOIN depth_weights AS first_weights ON first_weights.depth = last_depths.overlap_depth
JOIN depth_weights AS last_weights ON last_weights.depth = last_depths.last_depth
