-- recall_elbow: one row per group and cut-off from 1 to k: height of recall above a straight line, and rank by height, 1 for the elbow.
-- Recall is summed over ranked lists. The line leads from the first cut-off to the last. Heights are compared to nine decimals, since sums
-- in another order differ in their last digits.
-- $k: integer from 3 to 10000: the last cut-off.
-- Nonzero: $k - 1.
-- Grain: group_id, cutoff
SELECT
  group_id, cutoff,
  elbow_height, -- billionths of the difference of last and first recall
  ROW_NUMBER() OVER (
    PARTITION BY group_id ORDER BY elbow_height DESC, cutoff
  ) AS elbow_rank -- 1 is the elbow; of equal heights the lowest cut-off
FROM (
  -- one row per group and cut-off
  SELECT
    group_id, cutoff,
    COALESCE(FLOOR((
      (cumulative_recall - first_recall) / NULLIF(last_recall - first_recall, 0) - (cutoff - 1) / ($k - 1)
    ) * 1000000000 + 0.5), 0) AS elbow_height
  FROM (
    -- one row per group and cut-off
    SELECT
      cumulative_recalls.*,
      MIN(cumulative_recall) OVER (PARTITION BY group_id) AS first_recall,
      MAX(cumulative_recall) OVER (PARTITION BY group_id) AS last_recall
    FROM (
      -- one row per group and cut-off
      SELECT
        group_list_counts.group_id, cutoff_range.cutoff,
        SUM(COALESCE(rank_recalls.cumulative_recall, 0)) OVER (
          PARTITION BY group_list_counts.group_id ORDER BY cutoff_range.cutoff ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS cumulative_recall -- summed over lists
      FROM group_list_counts
      CROSS JOIN (
        -- one row per cut-off
        SELECT CAST(number AS INT) AS cutoff
        FROM numbers
        WHERE number <= $k
      ) AS cutoff_range
      LEFT JOIN (
        -- one row per group and rank of a relevant document
        SELECT
          list_groups.group_id,
          CAST(recall_shares.rank AS INT) AS cutoff,
          SUM(recall_shares.recall_share) AS cumulative_recall
        FROM (
          -- one row per list and relevant document
          SELECT
            list_id, rank,
            doc_count / NULLIF(SUM(doc_count) OVER (PARTITION BY list_id), 0) AS recall_share -- 1 over the relevant documents of the list
          FROM relevant_documents
        ) AS recall_shares
        JOIN list_groups ON list_groups.list_id = recall_shares.list_id
        WHERE recall_shares.rank <= $k
        GROUP BY list_groups.group_id, recall_shares.rank
      ) AS rank_recalls
        ON rank_recalls.group_id = group_list_counts.group_id AND rank_recalls.cutoff = cutoff_range.cutoff
    ) AS cumulative_recalls
  ) AS recall_ranges
) AS elbow_heights
