-- bitwise_pair_counts: one row per group whose pairs are counted by bits: weights of its concordant and of its discordant pairs.
-- For each power of two, the label indexes are cut into blocks of that size. Two predictions of different labels are in the two halves of
-- exactly one block: that of the highest bit in which their indexes differ. A running sum in the order of scores gives the weight of the
-- other half at lower scores; a pair is discordant if the upper half has the lower score. Blocks of different sizes have different
-- numbers.
-- Nonzero: block_sizes.block_size.
-- Grain: group_id
SELECT
  group_id,
  SUM(upper_weight * lower_before) AS concordant, -- weight of pairs of the same order
  SUM(lower_weight * upper_before) AS discordant -- weight of pairs of opposite order
FROM (
  -- one row per group, block and distinct score
  SELECT
    block_halves.*,
    COALESCE(SUM(lower_weight) OVER (
      PARTITION BY group_id, block ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS lower_before, -- at lower scores
    COALESCE(SUM(upper_weight) OVER (
      PARTITION BY group_id, block ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS upper_before -- at lower scores
  FROM (
    -- one row per group, block of labels and distinct score
    SELECT
      group_id, block, score_index,
      SUM(CASE WHEN half_block = 2 * block THEN weight ELSE 0 END) AS lower_weight, -- of this score, with labels of the lower half
      SUM(CASE WHEN half_block = 2 * block THEN 0 ELSE weight END) AS upper_weight -- of this score, with labels of the upper half
    FROM (
      -- one row per group, distinct label and score, and block size; two different labels are in the two halves of one block only, so each pair counts once
      SELECT
        label_score_indexes.*,
        CAST(FLOOR((label_score_indexes.label_index + 1099511627776) / block_sizes.block_size) AS BIGINT) AS block, -- number of the block; + 2^40 keeps block sizes apart
        CAST(FLOOR(2 * (label_score_indexes.label_index + 1099511627776) / block_sizes.block_size) AS BIGINT) AS half_block -- half of the block: 2 * block is the lower one
      FROM label_score_indexes
      JOIN block_sizes ON block_sizes.block_size < 2 * label_score_indexes.num_labels
    ) AS label_blocks
    GROUP BY group_id, block, score_index
  ) AS block_halves
) AS cumulative_halves
GROUP BY group_id
