-- bitwise_pair_counts: one row per group, with the weight of its concordant and of its discordant pairs.
-- For each power of two, the label indexes are cut into blocks of that size. Two predictions of different labels are in the two halves
-- of exactly one block: that of the highest bit in which their indexes differ. A running sum in the order of scores gives the weight
-- of the other half at lower scores; a pair is discordant if the upper half has the lower score. Blocks of different sizes have
-- different numbers.
-- Nonzero: s.block_size.
-- Grain: group_id
SELECT
  group_id,
  SUM(upper_weight * lower_before) AS concordant,
  SUM(lower_weight * upper_before) AS discordant
FROM (
  SELECT
    group_id,
    lower_weight,
    upper_weight,
    COALESCE(SUM(lower_weight) OVER (
      PARTITION BY group_id, block ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS lower_before,
    COALESCE(SUM(upper_weight) OVER (
      PARTITION BY group_id, block ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS upper_before
  FROM (
    SELECT
      group_id,
      block,
      score_index,
      SUM(CASE WHEN half_block = 2 * block THEN weight ELSE 0 END) AS lower_weight,
      SUM(CASE WHEN half_block = 2 * block THEN 0 ELSE weight END) AS upper_weight
    FROM (
      SELECT
        o.group_id,
        o.score_index,
        o.weight,
        CAST(FLOOR((o.label_index + 1099511627776) / s.block_size) AS BIGINT) AS block,
        CAST(FLOOR(2 * (o.label_index + 1099511627776) / s.block_size) AS BIGINT) AS half_block
      FROM label_score_indexes AS o
      JOIN block_sizes AS s ON s.block_size < 2 * o.num_labels
    ) AS cut
    GROUP BY group_id, block, score_index
  ) AS halves
) AS running
GROUP BY group_id
