-- counted_pairs: one row per group, or several to sum for groups that ranks cannot count: weights of untied and of tied pairs.
-- Where all weights are 1, window ranks count the pairs: a rank by label within the rows of lower or equal score counts the discordant
-- ones, and differences of ranks the others. These are integers, whose differences are exact. The other groups are counted as by bits.
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
  SUM(score_rank - inversion_rank - rank_in_label + 1) AS concordant,
  SUM(inversion_rank - 1) AS discordant,
  SUM(both_rank - score_rank) AS score_ties,
  SUM(rank_in_label - 1) AS label_ties
FROM (
  -- one row per prediction of a group that ranks can count
  SELECT
    predictions_with_group_size.group_id,
    RANK(ORDER BY predictions_with_group_size.label DESC) OVER (
      PARTITION BY predictions_with_group_size.group_id
      ORDER BY predictions_with_group_size.score, predictions_with_group_size.label
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS inversion_rank, -- from 1, by rows of a lower score and a higher label
    RANK() OVER (
      PARTITION BY predictions_with_group_size.group_id ORDER BY predictions_with_group_size.score, predictions_with_group_size.label
    ) AS both_rank, -- by rows before it by score and label
    RANK() OVER (PARTITION BY predictions_with_group_size.group_id ORDER BY predictions_with_group_size.score) AS score_rank, -- by rows of a lower score
    RANK() OVER (
      PARTITION BY predictions_with_group_size.group_id, predictions_with_group_size.label ORDER BY predictions_with_group_size.score
    ) AS rank_in_label -- by rows of a lower score and this label
  FROM predictions_with_group_size
  JOIN rank_countable_groups ON rank_countable_groups.group_id = predictions_with_group_size.group_id
  WHERE predictions_with_group_size.num_predictions > 32 AND rank_countable_groups.is_rank_countable = 1
) AS pair_ranks
GROUP BY group_id
