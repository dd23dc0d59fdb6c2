-- sqlrank 0.1.0 for DuckDB: KendallTau, one row
-- reads: shop.eval.pairs (predictions)
-- plan: pair_counting=window_ranks; alternative: pair_counting=bits, which has fewer steps to read and is slower
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight to a column to read it
-- made by: sqlrank sql KendallTau --predictions shop.eval.pairs
WITH predictions AS NOT MATERIALIZED (
  -- One row per prediction. (shop.eval.pairs)
  SELECT CAST(score AS DOUBLE) AS score, CAST(label AS DOUBLE) AS label
  FROM shop.eval.pairs
), group_weights AS (
  -- One row. (group_weights.sql)
  SELECT
    COUNT(*) AS num_predictions,
    -- 1 if all these weights are 1
    CASE WHEN MIN(1e0) = 1 AND MAX(1e0) = 1 THEN 1 ELSE 0 END AS is_unweighted
  FROM predictions
), predictions_with_group_size AS (
  -- One row per prediction, with the size of its group. (predictions_with_group_size.sql)
  SELECT
    predictions.label, predictions.score,
    group_weights.num_predictions  -- predictions of the same group
  FROM predictions
  CROSS JOIN group_weights
), label_score_weights AS (
  -- One row per label and score, in groups of more than 32 predictions.
  -- (label_score_weights/large_groups.sql)
  SELECT label, score, CAST(COUNT(*) AS DOUBLE) AS weight
  FROM predictions_with_group_size
  WHERE num_predictions > 32
  GROUP BY label, score
), rank_countable_groups AS (
  -- One row. (rank_countable_groups.sql)
  SELECT
    -- 1 if ranks count its pairs: weights of 1, few repeated rows
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
  -- One row per distinct label and score, and block size; two labels are in different halves of one
  -- block only, of the highest bit in which they differ.
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
  -- One row, for a group with its untied pairs, and one per label and score with its ties.
  -- (bitwise_counted_pairs.sql)
  SELECT
    SUM(upper_weight * lower_before) AS concordant, SUM(lower_weight * upper_before) AS discordant,
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
  -- One row per prediction of a group that ranks can count.
  SELECT
    RANK(ORDER BY predictions_with_group_size.label DESC) OVER (
      ORDER BY predictions_with_group_size.score, predictions_with_group_size.label
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS inversion_rank,  -- from 1, by rows of a lower score and a higher label
    RANK() OVER (
      ORDER BY predictions_with_group_size.score, predictions_with_group_size.label
    ) AS both_rank,  -- by rows before it by score and label
    -- by rows of a lower score
    RANK() OVER (ORDER BY predictions_with_group_size.score) AS score_rank,
    RANK() OVER (
      PARTITION BY predictions_with_group_size.label ORDER BY predictions_with_group_size.score
    ) AS rank_in_label  -- by rows of a lower score and this label
  FROM predictions_with_group_size
  CROSS JOIN rank_countable_groups
  WHERE
    predictions_with_group_size.num_predictions > 32 AND rank_countable_groups.is_rank_countable = 1
), counted_pairs AS (
  -- One row, or several to sum for groups that ranks cannot count.
  -- (counted_pairs/by_window_ranks.sql)
  SELECT concordant, discordant, score_ties, label_ties FROM bitwise_counted_pairs
  UNION ALL
  SELECT
    SUM(score_rank - inversion_rank - rank_in_label + 1) AS concordant,
    SUM(inversion_rank - 1) AS discordant, SUM(both_rank - score_rank) AS score_ties,
    SUM(rank_in_label - 1) AS label_ties
  FROM pair_ranks
), pair_terms AS (
  -- One row, for a group of up to 32 predictions, and several per larger group.
  SELECT
    -- weight of pairs of the same order
    SUM(CASE
      WHEN lower_predictions.score < higher_predictions.score
      AND lower_predictions.label < higher_predictions.label
      THEN 1e0
      ELSE 0
    END) AS concordant,
    -- weight of pairs of opposite order
    SUM(CASE
      WHEN lower_predictions.score < higher_predictions.score
      AND lower_predictions.label > higher_predictions.label
      THEN 1e0
      ELSE 0
    END) AS discordant,
    SUM(
      CASE WHEN lower_predictions.score = higher_predictions.score THEN 1e0 ELSE 0 END
    ) AS score_ties,  -- weight of pairs tied in score only
    SUM(
      CASE WHEN lower_predictions.label = higher_predictions.label THEN 1e0 ELSE 0 END
    ) AS label_ties  -- weight of pairs tied in label only
  FROM predictions_with_group_size AS lower_predictions
  CROSS JOIN predictions_with_group_size AS higher_predictions
  WHERE
    lower_predictions.num_predictions <= 32
    AND higher_predictions.num_predictions <= 32
    AND (
      lower_predictions.score < higher_predictions.score
      OR (
        lower_predictions.score = higher_predictions.score
        AND lower_predictions.label > higher_predictions.label
      )
    )
  UNION ALL
  SELECT concordant, discordant, score_ties, label_ties FROM counted_pairs
), pair_counts AS (
  -- One row. (pair_counts/by_group_size.sql)
  SELECT
    SUM(concordant) AS concordant, SUM(discordant) AS discordant, SUM(score_ties) AS score_ties,
    SUM(label_ties) AS label_ties
  FROM pair_terms
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
