-- misordered_pair_counts: one row per group and compared prediction: label, scores, weight in the most violated top k, divisor, and negatives.
-- That is the top k, of some highest positives and some highest negatives, in which the sum of the negatives' scores most exceeds as many
-- times the mean margin score of the positives left out. These positives share the weight of the negatives, up to max_positive_weight each.
-- $k: integer from 1: number of predictions in the top k.
-- Grain: rows of surrogate_terms
SELECT
  group_id,
  label,
  score,
  margin_score, -- score, of positives less the margin, of negatives plus it
  CASE
    WHEN num_top_positives < max_violation_positives OR max_violation_positives IS NULL THEN 0
    WHEN label = 0 THEN 1
    ELSE MAX(CASE WHEN label = 1 AND num_top_positives = max_violation_positives THEN per_positive END) OVER (PARTITION BY group_id)
  END AS pair_weight, -- weight of the prediction in the violation
  CASE WHEN max_violation IS NULL THEN 0 ELSE 1 END AS positive_divisor, -- 0 if no top k is violated, else 1
  SUM(1 - label) OVER (PARTITION BY group_id) AS num_negatives -- compared negatives of the group
FROM (
  -- one row per group and compared prediction
  SELECT
    max_violations.*,
    MAX(CASE WHEN violation = max_violation AND max_violation > 0 THEN num_top_positives END) OVER (PARTITION BY group_id) AS max_violation_positives
  FROM (
    -- one row per group and compared prediction
    SELECT
      violations.*,
      MAX(violation) OVER (PARTITION BY group_id) AS max_violation
    FROM (
      -- one row per group and compared prediction
      SELECT
        positive_weights.*,
        CASE WHEN label = 1 AND num_top_positives < $k AND num_negatives_in > 0 THEN negative_sum - per_positive * positive_sum END AS violation
      FROM (
        -- one row per group and compared prediction
        SELECT
          cumulative_sums.*,
          CASE
            WHEN num_negatives_in > max_positive_weight * num_positives_out THEN max_positive_weight
            ELSE num_negatives_in / NULLIF(num_positives_out, 0)
          END AS per_positive -- weight of a positive left out of the top k that ends here
        FROM (
          -- one row per group and compared prediction
          SELECT
            top_k_sizes.*,
            SUM(negative) OVER (
              PARTITION BY group_id ORDER BY num_top_positives DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS num_negatives_in,
            SUM(label) OVER (
              PARTITION BY group_id ORDER BY num_top_positives DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS num_positives_out,
            SUM(negative * margin_score) OVER (
              PARTITION BY group_id ORDER BY num_top_positives DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS negative_sum,
            SUM(label * margin_score) OVER (
              PARTITION BY group_id ORDER BY num_top_positives DESC, negative DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS positive_sum
          FROM (
            -- one row per group and compared prediction
            SELECT
              surrogate_terms.*,
              1 - label AS negative,
              CASE WHEN label = 1 THEN class_rank - 1 ELSE $k - class_rank END AS num_top_positives -- positives of the top k that ends here
            FROM surrogate_terms
          ) AS top_k_sizes
        ) AS cumulative_sums
      ) AS positive_weights
    ) AS violations
  ) AS max_violations
) AS violated_tops
