-- SpearmanRho: Spearman's rank correlation of labels and scores.
-- formula(): default pearson: how it is computed from ranks; ties have the mean of their ranks. The two differ under ties.
-- No influence: the rank of each row moves with all others.
-- Undefined: labels or scores that are all the same.
-- Source: Spearman 1904; scipy spearmanr (pearson).
SELECT
  group_id,
  CASE
    WHEN MIN(label) < MAX(label) AND MIN(score) < MAX(score) THEN formula(
      SUM(weight * label_rank * score_rank) / NULLIF(
        SUM(weight * label_rank * label_rank)
          * SQRT(SUM(weight * score_rank * score_rank) / NULLIF(SUM(weight * label_rank * label_rank), 0)),
        0
      ),
      2 * SUM(weight * (label_rank - score_rank) * (label_rank - score_rank)) / NULLIF(SUM(room), 0)
    )
  END AS spearmanrho
FROM centred_ranks
GROUP BY group_id
