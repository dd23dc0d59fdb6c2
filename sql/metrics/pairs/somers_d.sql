-- SomersD: Somers' D, pairs in the same order less those in opposite order, over the pairs not tied in one of the two.
--     D = (concordant - discordant) / pairs with different labels, which is 2 AUC - 1 for labels 0 and 1
-- Full name: Somers' D.
-- Use when: one of the two orders is the truth, and ties in the other should lower the value.
-- untied_in(): default label: which of the two is untied in the pairs that count; it explains the other one.
-- Interval: bootstrap (pairs are counted per group, and not per row)
-- Range: -1 to 1.
-- Undefined: labels (or scores, if these are given) that are all the same.
-- Source: Somers 1962, D(score | label); scipy somersd(label, score), and somersd(score, label) for given=score.
SELECT
  group_id,
  SUM(concordant - discordant) / NULLIF(SUM(concordant + discordant + untied_in(label_ties, score_ties)), 0) AS somers_d
FROM pair_counts
GROUP BY group_id
