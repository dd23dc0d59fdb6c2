-- sqlrank 0.1.0 for DuckDB: KendallTau, one row
-- reads: shop.eval.pairs (predictions)
-- plan: pair_counting=window_ranks; alternative: pair_counting=bits, which has fewer steps to read
--   and is slower
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql KendallTau --predictions shop.eval.pairs
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.eval.pairs)
  SELECT CAST(score AS DOUBLE) AS score, CAST(label AS DOUBLE) AS label
  FROM shop.eval.pairs
), label_score_weights AS (
  -- One row per label and score of predictions of positive weight.
  -- (label_score_weights/all_groups.sql)
  SELECT label, score, CAST(COUNT(*) AS DOUBLE) AS weight
  FROM predictions
  GROUP BY label, score
), group_weights AS (
  -- One row. (group_weights.sql)
  SELECT
    COUNT(*) AS num_predictions,
    MIN(1) AS is_unweighted  -- 1 if all these weights are 1
  FROM predictions
), rank_countable_groups AS (
  -- One row. (rank_countable_groups.sql)
  SELECT
    -- 1 if ranks count its pairs: weights of 1, few equal rows
    CASE
      WHEN MAX(group_weights.is_unweighted) = 1
      AND 8 * COUNT(*) > MAX(group_weights.num_predictions)
      THEN 1
      ELSE 0
    END AS is_rank_countable
  FROM label_score_weights
  CROSS JOIN group_weights
), dense_indexes AS (
  -- One row per distinct label and score.
  SELECT
    label_score_weights.weight,
    DENSE_RANK() OVER (ORDER BY label_score_weights.score) - 1 AS score_index,
    DENSE_RANK() OVER (ORDER BY label_score_weights.label) - 1 AS label_index
  FROM label_score_weights
  CROSS JOIN rank_countable_groups
  WHERE rank_countable_groups.is_rank_countable = 0
), label_score_indexes AS (
  -- One row per distinct label and score, in groups that ranks cannot count.
  -- (label_score_indexes/remaining_groups.sql)
  SELECT
    weight,  -- of the predictions of this label and score
    score_index,  -- number of the score, ascending from 0
    label_index,  -- number of the label, ascending from 0
    1 + MAX(label_index) OVER () AS num_labels  -- number of distinct labels
  FROM dense_indexes
), block_sizes AS (
  -- One row per power of two from 2 to 2^40. (block_sizes.sql)
  SELECT
    -- EXP is rounded to the power of two
    CAST(FLOOR(EXP(number * LN(2)) + 0.5) AS BIGINT) AS block_size
  FROM GENERATE_SERIES(1, 40) AS series(number)
), label_blocks AS (
  -- One row per distinct label and score, and block size; two different labels are in the two
  -- halves of one block only, so each pair counts once.
  SELECT
    label_score_indexes.score_index, label_score_indexes.weight,
    CAST(FLOOR(
      (label_score_indexes.label_index + 1099511627776) / block_sizes.block_size
    ) AS BIGINT) AS block,  -- number of the block; + 2^40 keeps block sizes apart
    CAST(FLOOR(
      2 * (label_score_indexes.label_index + 1099511627776) / block_sizes.block_size
    ) AS BIGINT) AS half_block  -- half of the block: 2 * block is the lower one
  FROM label_score_indexes
  INNER JOIN block_sizes ON block_sizes.block_size < 2 * label_score_indexes.num_labels
), block_halves AS (
  -- One row per block of labels and distinct score.
  SELECT
    block, score_index,
    -- of this score, with labels of the lower half
    SUM(CASE WHEN half_block = 2 * block THEN weight ELSE 0 END) AS lower_weight,
    -- of this score, with labels of the upper half
    SUM(CASE WHEN half_block = 2 * block THEN 0 ELSE weight END) AS upper_weight
  FROM label_blocks
  GROUP BY block, score_index
), cumulative_halves AS (
  -- One row per block and distinct score.
  SELECT
    upper_weight, lower_weight,
    COALESCE(SUM(lower_weight) OVER preceding_rows, 0) AS lower_before,  -- at lower scores
    COALESCE(SUM(upper_weight) OVER preceding_rows, 0) AS upper_before  -- at lower scores
  FROM block_halves
  WINDOW preceding_rows AS (
    PARTITION BY block ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
), bitwise_counted_pairs AS (
  -- One row, for a group with its untied pairs, counted by bits, and one per label and score with
  -- its ties. (bitwise_counted_pairs.sql)
  SELECT
    SUM(upper_weight * lower_before) AS concordant,  -- weight of pairs of the same order
    SUM(lower_weight * upper_before) AS discordant,  -- weight of pairs of opposite order
    0 AS score_ties, 0 AS label_ties
  FROM cumulative_halves
  UNION ALL
  SELECT
    0 AS concordant, 0 AS discordant,
    weight * COALESCE(SUM(weight) OVER preceding_rows_by_label_index, 0) AS score_ties,
    weight * COALESCE(SUM(weight) OVER preceding_rows_by_score_index, 0) AS label_ties
  FROM label_score_indexes
  WINDOW preceding_rows_by_label_index AS (
    PARTITION BY score_index ORDER BY label_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ),
  preceding_rows_by_score_index AS (
    PARTITION BY label_index ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
), pair_ranks AS (
  -- One row per prediction of a group that ranks can count; each rank is 1 and the number of rows
  -- that its comment names.
  SELECT
    RANK(ORDER BY predictions.label DESC) OVER (
      ORDER BY predictions.score, predictions.label
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS inversion_rank,  -- rows of a higher label before it by score and label
    -- rows of a lower score, or of this score and a lower label
    RANK() OVER (ORDER BY predictions.score, predictions.label) AS both_rank,
    RANK() OVER (ORDER BY predictions.score) AS score_rank,  -- rows of a lower score
    -- rows of a lower score and this label
    RANK() OVER (PARTITION BY predictions.label ORDER BY predictions.score) AS rank_in_label
  FROM predictions
  CROSS JOIN rank_countable_groups
  WHERE rank_countable_groups.is_rank_countable = 1
), counted_pairs AS (
  -- One row, or several to sum for groups that ranks cannot count. Of the rows of a lower score
  -- than a prediction, those of a higher label are discordant with it, those of its label are tied,
  -- and the others are concordant. (counted_pairs/by_window_ranks.sql)
  SELECT concordant, discordant, score_ties, label_ties FROM bitwise_counted_pairs
  UNION ALL
  SELECT
    SUM(score_rank - 1 - (inversion_rank - 1) - (rank_in_label - 1)) AS concordant,
    SUM(inversion_rank - 1) AS discordant, SUM(both_rank - score_rank) AS score_ties,
    SUM(rank_in_label - 1) AS label_ties
  FROM pair_ranks
), pair_counts AS (
  -- One row. (pair_counts/one_group.sql)
  SELECT
    SUM(concordant) AS concordant, SUM(discordant) AS discordant, SUM(score_ties) AS score_ties,
    SUM(label_ties) AS label_ties
  FROM counted_pairs
)
SELECT
  -- KendallTau: Kendall's tau: concordant less discordant pairs, over the geometric mean of the
  -- pairs untied in label and the pairs untied in score (tau-b by default).
  SUM(concordant - discordant) / NULLIF(
    SUM(
      (concordant + discordant + score_ties) * SQRT(
        (concordant + discordant + label_ties) / NULLIF(concordant + discordant + score_ties, 0)
      )
    ),
    0
  ) AS kendall_tau
FROM pair_counts;
