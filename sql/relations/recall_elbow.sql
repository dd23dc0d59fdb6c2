-- recall_elbow: one row per group and cut-off from 1 to k, with the height of recall above a straight line, and the rank of that height.
-- Recall is summed over ranked lists. The line leads from the first cut-off to the last, and the height is a share of the difference
-- in recall between the two. Rank 1 is the elbow; of equal heights the lowest cut-off is first. Heights are compared to nine decimals,
-- since sums in another order differ in their last digits.
-- $k: integer from 3 to 10000: the last cut-off.
-- Nonzero: $k - 1.
-- Grain: group_id, cutoff
SELECT
  group_id,
  cutoff,
  elbow_height,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY elbow_height DESC, cutoff) AS elbow_rank
FROM (
  SELECT
    group_id,
    cutoff,
    COALESCE(FLOOR((
      (cumulative_recall - first_found) / NULLIF(last_found - first_found, 0) - (cutoff - 1) / ($k - 1)
    ) * 1000000000 + 0.5), 0) AS elbow_height
  FROM (
    SELECT
      group_id,
      cutoff,
      cumulative_recall,
      MIN(cumulative_recall) OVER (PARTITION BY group_id) AS first_found,
      MAX(cumulative_recall) OVER (PARTITION BY group_id) AS last_found
    FROM (
      SELECT
        g.group_id,
        n.cutoff,
        SUM(COALESCE(h.cumulative_recall, 0)) OVER (PARTITION BY g.group_id ORDER BY n.cutoff ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cumulative_recall
      FROM (SELECT group_id, COUNT(*) AS all_lists FROM list_groups GROUP BY group_id) AS g
      CROSS JOIN (SELECT CAST(number AS INT) AS cutoff FROM numbers WHERE number <= $k) AS n
      LEFT JOIN (
        SELECT
          m.group_id,
          CAST(r.rank AS INT) AS cutoff,
          SUM(r.recall_share) AS cumulative_recall
        FROM (
          SELECT
            list_id,
            rank,
            doc_count / NULLIF(SUM(doc_count) OVER (PARTITION BY list_id), 0) AS recall_share
          FROM relevant_documents
        ) AS r
        JOIN list_groups AS m ON m.list_id = r.list_id
        WHERE r.rank <= $k
        GROUP BY m.group_id, r.rank
      ) AS h ON h.group_id = g.group_id AND h.cutoff = n.cutoff
    ) AS running
  ) AS beside
) AS apart
