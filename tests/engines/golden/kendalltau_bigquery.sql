-- sqlrank 0.1.0 for BigQuery: KendallTau, one row
-- reads: shop.eval.pairs (predictions)
-- predictions: weight is taken to be 1, since the table cannot be looked at. Map predictions.weight
--   to a column to read it
-- made by: sqlrank sql KendallTau --predictions shop.eval.pairs --dialect bigquery
WITH predictions AS (
  -- One row per prediction. (shop.eval.pairs)
  SELECT CAST(score AS FLOAT64) AS score, CAST(label AS FLOAT64) AS label
  FROM shop.eval.pairs
), label_score_weights AS (
  -- One row per label and score of predictions of positive weight.
  -- (label_score_weights/all_groups.sql)
  SELECT label, score, CAST(COUNT(*) AS FLOAT64) AS weight
  FROM predictions
  GROUP BY label, score
), dense_indexes AS (
  -- One row per distinct label and score.
  SELECT
    weight,
    DENSE_RANK() OVER (ORDER BY score) - 1 AS score_index,
    DENSE_RANK() OVER (ORDER BY label) - 1 AS label_index
  FROM label_score_weights
), label_score_indexes AS (
  -- One row per distinct label and score. (label_score_indexes/all_groups.sql)
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
    CAST(FLOOR(EXP(number * LN(2)) + 0.5) AS INT64) AS block_size
  FROM UNNEST(GENERATE_ARRAY(1, 40)) AS number
), label_blocks AS (
  -- One row per distinct label and score, and block size; two different labels are in the two
  -- halves of one block only, so each pair counts once.
  SELECT
    label_score_indexes.score_index, label_score_indexes.weight,
    CAST(FLOOR(
      (label_score_indexes.label_index + 1099511627776) / block_sizes.block_size
    ) AS INT64) AS block,  -- number of the block; + 2^40 keeps block sizes apart
    CAST(FLOOR(
      2 * (label_score_indexes.label_index + 1099511627776) / block_sizes.block_size
    ) AS INT64) AS half_block  -- half of the block: 2 * block is the lower one
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
), pair_counts AS (
  -- One row. (pair_counts/one_group.sql)
  SELECT
    SUM(concordant) AS concordant, SUM(discordant) AS discordant, SUM(score_ties) AS score_ties,
    SUM(label_ties) AS label_ties
  FROM bitwise_counted_pairs
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
