-- ExplainedVariance: one minus the variance of the error over that of the label.
--     ExplainedVariance = 1 - Var(label - score) / Var(label)
-- Equal labels have no variance, but deviations from their rounded mean.
-- Use when: a constant error does not matter, because you correct for it later. Otherwise prefer R2.
-- Requires: finite scores.
-- Range: -inf to 1.
-- Undefined: labels that are all equal.
-- Source: scikit-learn explained_variance_score.
SELECT
  group_id,
  1 - SUM(weight * (label - score - mean_label + mean_score) * (label - score - mean_label + mean_score))
    / NULLIF(label_squares(label, mean_label, weight), 0) AS explained_variance
FROM predictions_with_means
GROUP BY group_id
