-- WRanking: W-ranking performance measure: a linear rank statistic, the sum of phi over the relative ranks of the positives.
--     S = sum over positives of phi(rank / (N + 1)), with ranks from the lowest of all N scores, and average ranks of ties
-- W is S over that of perfect scores, or S itself under scale=sum. Perfect scores keep the order of the positives, and all negatives are below
-- them: separated_rank.
-- Of phi=mww S is (P N- AUC + P (P + 1) / 2) / (N + 1), with N- negatives.
-- Full name: W-ranking performance.
-- Use when: you follow the literature on linear rank statistics and choose the score-generating function.
-- phi(): default mww: score of a relative rank, that does not decrease.
-- scale(): default best: unit of the sum.
-- Requires: binary labels.
-- Interval: bootstrap (the rank of each row depends on all others)
-- Range: 0 to 1, but not under scale=sum.
-- Undefined: no positives; under scale=best also a sum that would be 0 even if all positives were above the negatives.
-- Source: Clemencon & Vayatis, Empirical performance maximization for linear rank statistics, 2008; Clemencon, Limnios & Vayatis 2021.
SELECT
  group_id,
  scale(SUM(positives * phi(relative_rank)), SUM(positives * phi(separated_rank)), SUM(positives)) AS w_ranking
FROM relative_ranks
GROUP BY group_id
