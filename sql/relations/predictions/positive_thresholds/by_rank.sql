-- positive_thresholds: one row per group and distinct score of a positive: class counts at, above and below it, and totals, from ranks.
-- All weights are 1: the predictions are ranked once, and the ranks of the positives give the numbers of each class above.
-- Materialize: all predictions are sorted.
-- Grain: group_id, score
SELECT
  group_id, score,
  total_rows, -- predictions of the group
  total_positives,
  positives, -- positives of this score
  positives AS positive_squares, -- sum of their squared weights of 1
  rows_at_or_above - rows_above - positives AS negatives, -- negatives of this score
  positives_at_or_above - positives AS positives_above,
  rows_above - positives_at_or_above + positives AS negatives_above,
  total_positives - positives_at_or_above AS positives_below,
  total_rows - rows_at_or_above - total_positives + positives_at_or_above AS negatives_below, -- rows less positives, both below
  total_rows - total_positives AS total_negatives
FROM (
  -- one row per group and distinct score of a positive, with the counts of rows down to it
  SELECT
    positive_ranks.*,
    group_sizes.total_rows,
    FLOOR(positive_ranks.share_at_or_above * group_sizes.total_rows + 0.5) AS rows_at_or_above, -- a whole number again, from the share
    SUM(positive_ranks.positives) OVER (
      PARTITION BY positive_ranks.group_id ORDER BY positive_ranks.score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS positives_at_or_above,
    SUM(positive_ranks.positives) OVER (PARTITION BY positive_ranks.group_id) AS total_positives
  FROM (
    -- one row per group and distinct score of a positive
    SELECT
      group_id, score,
      COUNT(*) AS positives, -- positives of this score
      MAX(rank) - 1 AS rows_above, -- predictions of higher scores
      MAX(share_at_or_above) AS share_at_or_above
    FROM (
      -- one row per prediction
      SELECT
        predictions.*,
        RANK() OVER (PARTITION BY group_id ORDER BY score DESC) AS rank,
        CUME_DIST() OVER (PARTITION BY group_id ORDER BY score DESC) AS share_at_or_above
      FROM predictions
    ) AS prediction_ranks
    WHERE label = 1
    GROUP BY group_id, score
  ) AS positive_ranks
  JOIN group_sizes ON group_sizes.group_id = positive_ranks.group_id
) AS rank_counts
