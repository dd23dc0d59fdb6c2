-- SomersD: Somers' D, pairs in the same order less those in opposite order, over the pairs not tied in one of the two.
--     D = (concordant - discordant) / pairs with different labels, which is 2 AUC - 1 for labels 0 and 1
-- given(): default label: which of the two may not be tied; the other one is explained by it.
-- No influence: pairs are counted, and no row of them is kept.
-- Undefined: labels (or scores, if these are given) that are all the same.
-- Source: Somers 1962, D(score | label); scipy somersd(label, score), and somersd(score, label) for given=score.
SELECT
  group_id,
  SUM(concordant - discordant) / NULLIF(SUM(concordant + discordant + given(label_ties, score_ties)), 0) AS somersd
FROM pairs
GROUP BY group_id
