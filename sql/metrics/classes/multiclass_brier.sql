-- MulticlassBrier: sum over classes of the squared difference between probability and outcome, averaged over predictions.
--     Brier = mean of sum over classes of (p - y)^2 = mean of (1 - 2 p(label) + sum of p^2)
-- Values are at most 2 if the probabilities of a prediction sum to 1, which is not checked.
-- Full name: multiclass Brier score.
-- Use when: you use the probabilities of classes and want a score that one extreme error cannot dominate.
-- Requires: probabilities.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Source: Brier 1950; scikit-learn brier_score_loss.
SELECT
  group_id,
  SUM(weight * (1 - 2 * label_score + score_squares)) / NULLIF(SUM(weight), 0) AS multiclass_brier
FROM scored_labels
GROUP BY group_id
