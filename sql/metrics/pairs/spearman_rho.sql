-- SpearmanRho: Spearman's rank correlation of labels and scores.
--     rho = cov(x, y) / (sd(x) sd(y))
--     rho_d2 = 1 - 6 sum of d^2 / (n^3 - n)
-- Ranks of a row are x and y, and d their difference. The root is of a quotient of sums, since their product may be more than a double holds.
-- Under rho_formula=d2 a row of weight 3 counts almost as three rows of weight 1.
-- Full name: Spearman's rank correlation.
-- Use when: you compare two orders of the same rows and large differences of ranks should count more than small ones.
-- rho_formula(): default pearson: how it is computed from ranks; ties have the mean of their ranks. The two differ under ties.
-- Interval: bootstrap (the rank of each row depends on all others)
-- Range: -1 to 1.
-- Undefined: labels or scores that are all the same.
-- Source: Spearman 1904; scipy spearmanr (pearson).
SELECT
  group_id,
  CASE
    WHEN MIN(label) < MAX(label) AND MIN(score) < MAX(score) THEN rho_formula(
      -- correlation of the ranks
      SUM(weight * centered_label_rank * centered_score_rank) / NULLIF(
        SUM(weight * centered_label_rank * centered_label_rank)
          * SQRT(SUM(weight * centered_score_rank * centered_score_rank) / NULLIF(SUM(weight * centered_label_rank * centered_label_rank), 0)),
        0
      ),
      -- what 1 is reduced by under d2
      2 * SUM(weight * (centered_label_rank - centered_score_rank) * (centered_label_rank - centered_score_rank)) / NULLIF(SUM(cubic_weight_term), 0)
    )
  END AS spearman_rho
FROM centered_ranks
GROUP BY group_id
