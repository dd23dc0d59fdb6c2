-- top_k_violations: one row per group and compared prediction: label, scores, and by how much the top k that ends at it violates the order.
-- A top k has some highest positives and some highest negatives. Its violation is by how much the sum of the negatives' scores exceeds as
-- many times the mean margin score of the positives left out. These share the weight of the negatives, up to max_positive_weight each.
-- $k: integer from 1: number of predictions in the top k.
-- Grain: rows of surrogate_terms
SELECT
  group_id, label, score,
  margin_score, -- score, of positives less the margin, of negatives plus it
  num_top_positives, -- positives of the top k that ends here
  positive_weight, -- of each positive that it leaves out
  CASE WHEN label = 1 AND num_top_positives < $k AND num_negatives_in > 0 THEN negative_sum - positive_weight * positive_sum END AS violation
FROM (
  -- one row per group and compared prediction
  SELECT
    cumulative_sums.*,
    CASE
      WHEN num_negatives_in > max_positive_weight * num_positives_out THEN max_positive_weight
      ELSE num_negatives_in / NULLIF(num_positives_out, 0)
    END AS positive_weight
  FROM (
    -- one row per group and compared prediction
    SELECT
      top_k_sizes.*,
      SUM(1 - label) OVER (
        PARTITION BY group_id ORDER BY num_top_positives DESC, label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS num_negatives_in,
      SUM(label) OVER (
        PARTITION BY group_id ORDER BY num_top_positives DESC, label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS num_positives_out,
      SUM((1 - label) * margin_score) OVER (
        PARTITION BY group_id ORDER BY num_top_positives DESC, label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS negative_sum,
      SUM(label * margin_score) OVER (
        PARTITION BY group_id ORDER BY num_top_positives DESC, label ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS positive_sum
    FROM (
      -- one row per group and compared prediction
      SELECT
        surrogate_terms.*,
        CASE WHEN label = 1 THEN class_rank - 1 ELSE $k - class_rank END AS num_top_positives
      FROM surrogate_terms
    ) AS top_k_sizes
  ) AS cumulative_sums
) AS positive_weights
