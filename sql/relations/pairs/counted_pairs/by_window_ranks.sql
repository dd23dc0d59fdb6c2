-- counted_pairs: one row per group, or several to sum for groups that ranks cannot count: weights of untied and of tied pairs.
-- Note: Of the rows of a lower score than a prediction, those of a higher label are discordant with it, those of its label are tied, and the others are concordant.
-- Where all weights are 1, window ranks count the pairs. These are integers, whose differences are exact. The other groups are counted as by bits.
-- Grain: many per group_id
SELECT
  group_id,
  concordant, -- weight of pairs of the same order
  discordant, -- weight of pairs of opposite order
  score_ties, -- weight of pairs tied in score only
  label_ties -- weight of pairs tied in label only
FROM bitwise_counted_pairs
UNION ALL
SELECT
  group_id,
  SUM((score_rank - 1) - (inversion_rank - 1) - (rank_in_label - 1)) AS concordant,
  SUM(inversion_rank - 1) AS discordant,
  SUM(both_rank - score_rank) AS score_ties,
  SUM(rank_in_label - 1) AS label_ties
FROM (
  -- one row per prediction of a group that ranks can count; each rank is 1 and the number of rows that its comment names
  SELECT
    predictions.group_id,
    RANK(ORDER BY predictions.label DESC) OVER (
      PARTITION BY predictions.group_id ORDER BY predictions.score, predictions.label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS inversion_rank, -- rows of a higher label before it by score and label
    RANK() OVER (PARTITION BY predictions.group_id ORDER BY predictions.score, predictions.label) AS both_rank, -- rows of a lower score, or of this score and a lower label
    RANK() OVER (PARTITION BY predictions.group_id ORDER BY predictions.score) AS score_rank, -- rows of a lower score
    RANK() OVER (PARTITION BY predictions.group_id, predictions.label ORDER BY predictions.score) AS rank_in_label -- rows of a lower score and this label
  FROM predictions
  JOIN rank_countable_groups ON rank_countable_groups.group_id = predictions.group_id
  WHERE predictions.weight > 0 AND rank_countable_groups.is_rank_countable = 1
) AS pair_ranks
GROUP BY group_id
