-- depth_agreements: one row per list and depth, down to the end of the longer list, if neither is empty: documents that both have down to it.
-- Beyond the end of the shorter list, agreement is extrapolated: documents that both have by then keep their share.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id, depth
-- Nonzero: depth.
SELECT
  list_id, depth,
  early_shared + late_shared AS num_shared, -- documents that both have down to the depth
  early_shared / NULLIF(shorter_depth, 0) + late_shared / depth AS agreement, -- their share
  CASE WHEN depth = last_depth THEN 1 ELSE 0 END AS is_last -- 1 at the end of the longer list, else 0
FROM (
  -- one row per list and depth
  SELECT
    list_id, depth,
    SUM(CASE WHEN num_lists = 2 THEN 1 ELSE 0 END) OVER (PARTITION BY list_id ORDER BY depth) AS shorter_depth,
    SUM(CASE WHEN num_lists = 2 THEN num_shared ELSE 0 END) OVER (PARTITION BY list_id ORDER BY depth) AS early_shared,
    SUM(CASE WHEN num_lists = 2 THEN 0 ELSE num_shared END) OVER (PARTITION BY list_id ORDER BY depth) AS late_shared,
    MAX(depth) OVER (PARTITION BY list_id) AS last_depth
  FROM (
    -- one row per list and depth: lists with a document there, and documents that both have from there on
    SELECT
      list_id, depth,
      COUNT(num_lists) AS num_lists,
      COUNT(num_shared) AS num_shared
    FROM (
      -- one row per list and document of either list, and again per list and document of both
      SELECT list_id, rank AS depth, 1 AS num_lists, CAST(NULL AS BIGINT) AS num_shared
      FROM baseline_overlap
      UNION ALL
      SELECT list_id, overlap_depth AS depth, CAST(NULL AS BIGINT) AS num_lists, 1 AS num_shared
      FROM baseline_overlap
      UNION ALL
      SELECT ranked_lists.list_id, baseline_ranks.baseline_rank AS depth, 1 AS num_lists, CAST(NULL AS BIGINT) AS num_shared
      FROM baseline_ranks
      JOIN ranked_lists
        ON ranked_lists.group_id = baseline_ranks.group_id AND ranked_lists.query_id = baseline_ranks.query_id
    ) AS listed_documents
    WHERE depth <= $k
    GROUP BY list_id, depth
  ) AS depths
) AS depth_sums
WHERE shorter_depth > 0
