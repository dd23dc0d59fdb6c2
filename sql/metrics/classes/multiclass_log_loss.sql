-- MulticlassLogLoss: mean negative logarithm of the probability given to the label.
--     MulticlassLogLoss = - mean of ln(p(label))
-- The observed label is the 1 of log_likelihood, and label_score its probability.
-- Use when: you use the probabilities of classes, and a confident error is expensive.
-- Requires: probabilities.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Unit: nats.
-- Source: scikit-learn log_loss.
SELECT
  group_id,
  -SUM(weight * log_likelihood(1, label_score)) / NULLIF(SUM(weight), 0) AS multiclass_log_loss
FROM scored_labels
GROUP BY group_id
