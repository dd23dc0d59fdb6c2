-- overlap_weights: one row per list and rank of a retrieved document: if both lists have it, and weights of depths above it and to the end.
-- A depth d has the weight p^d / d.
-- Agreement at a depth is extrapolated from the end of the shorter list for documents that both have by then, else from that of the longer.
-- Grain: list_id, rank
SELECT
  last_depths.list_id,
  last_depths.rank,
  last_depths.is_shared, -- 1 if it is among the first k of both, else 0
  first_weights.cumulative_weight - first_weights.depth_weight AS weight_above, -- sum over the depths at which not both have it
  last_weights.cumulative_weight AS weight_to_end, -- sum down to the end of the list
  last_weights.depth_weight AS end_weight -- at the end of the list
FROM (
  -- one row per list and rank of a retrieved document
  SELECT
    list_id,
    rank,
    CASE WHEN overlap_depth IS NULL THEN 0 ELSE 1 END AS is_shared,
    COALESCE(overlap_depth, 1) AS overlap_depth,
    CASE
      WHEN overlap_depth <= list_length AND overlap_depth <= baseline_length
        THEN CASE WHEN list_length < baseline_length THEN list_length ELSE baseline_length END
      WHEN list_length > baseline_length THEN list_length
      ELSE baseline_length
    END AS last_depth
  FROM overlap_depths
) AS last_depths
JOIN depth_weights AS first_weights ON first_weights.depth = last_depths.overlap_depth
JOIN depth_weights AS last_weights ON last_weights.depth = last_depths.last_depth
