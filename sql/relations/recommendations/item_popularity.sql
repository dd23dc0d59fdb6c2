-- item_popularity: one row per group and item of the history: its number of users, and its rank by that number.
-- Items of equal numbers share a popularity rank, and ranks have no gaps.
-- Scope: group (popularity is measured over all users)
-- Grain: group_id, doc_id
SELECT
  group_id, doc_id,
  num_users, -- users who had the item
  DENSE_RANK() OVER (PARTITION BY group_id ORDER BY num_users DESC) AS popularity_rank -- 1 for most users; ties share one, without gaps
FROM (
  -- one row per group and item of the history
  SELECT
    group_id, doc_id,
    COUNT(*) AS num_users
  FROM history
  GROUP BY group_id, doc_id
) AS item_users
