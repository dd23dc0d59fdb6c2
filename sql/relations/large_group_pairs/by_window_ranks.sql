-- large_group_pairs: rows per group of more than 32 predictions, which sum to the weights of its concordant, discordant and tied pairs.
-- Where all weights are 1, window ranks count the pairs: a rank by label within the rows of lower or equal score counts the discordant
-- ones, and differences of ranks the others. These are integers, whose differences are exact. The other groups are counted as by bits.
-- Grain: many per group_id
SELECT
  group_id,
  concordant,
  discordant,
  0 AS score_ties,
  0 AS label_ties
FROM bitwise_pair_counts
UNION ALL
SELECT
  group_id,
  0 AS concordant,
  0 AS discordant,
  score_ties,
  label_ties
FROM tied_pair_counts
UNION ALL
SELECT
  group_id,
  SUM(score_rank - inversion_rank - rank_in_label + 1) AS concordant,
  SUM(inversion_rank - 1) AS discordant,
  SUM(both_rank - score_rank) AS score_ties,
  SUM(rank_in_label - 1) AS label_ties
FROM (
  SELECT
    p.group_id,
    RANK(ORDER BY p.label DESC) OVER (
      PARTITION BY p.group_id ORDER BY p.score, p.label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS inversion_rank,
    RANK() OVER (PARTITION BY p.group_id ORDER BY p.score, p.label) AS both_rank,
    RANK() OVER (PARTITION BY p.group_id ORDER BY p.score) AS score_rank,
    RANK() OVER (PARTITION BY p.group_id, p.label ORDER BY p.score) AS rank_in_label
  FROM predictions_with_group_size AS p
  JOIN rank_countable_groups AS l ON l.group_id = p.group_id
  WHERE p.num_predictions > 32 AND l.is_rank_countable = 1
) AS ranked
GROUP BY group_id
