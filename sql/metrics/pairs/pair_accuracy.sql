-- PairAccuracy: share of the pairs with different labels whose scores are in the same order; a tie of scores is wrong.
--     PairAccuracy = concordant / pairs with different labels
-- Use when: models are trained or judged on pairs, and a tie is an error.
-- level: default query: pairs are made within a query; those of all queries of a group count together.
-- Interval: bootstrap (pairs are counted per group, and not per row)
-- Range: 0 to 1.
-- Undefined: no pair with different labels.
-- Unit: share of pairs.
-- Source: CatBoost PairAccuracy.
SELECT
  group_id,
  SUM(concordant) / NULLIF(SUM(concordant + discordant + score_ties), 0) AS pair_accuracy
FROM pair_counts
GROUP BY group_id
