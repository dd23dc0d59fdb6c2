-- KrippendorffAlpha: Krippendorff's alpha: agreement of any number of judges, adjusted for chance: 0 at random, 1 if they always agree.
--     alpha = 1 - (N - 1) observed disagreement / disagreement of all pairs, N the ratings
-- Full name: Krippendorff's alpha.
-- Range: -1 to 1.
-- Interval: influence alpha_influence FROM alpha_influence
-- Undefined: no item has two ratings, or all ratings are equal.
-- Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability.
SELECT
  group_id,
  1 - (SUM(num_ratings) - 1) * SUM(disagreement) / NULLIF(SUM(chance_disagreement), 0) AS krippendorff_alpha
FROM rated_items
GROUP BY group_id
