-- label_ranks: one row per group: its predictions, and those of whose label no class has the name.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_scored_predictions,
  SUM(CASE WHEN label_rank IS NULL THEN 1 ELSE 0 END) AS audit_unscored_labels -- predictions have a label that none of their classes is, which counts as a score of 0
FROM label_ranks
GROUP BY group_id
