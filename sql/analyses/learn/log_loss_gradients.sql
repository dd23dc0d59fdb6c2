-- log_loss_gradients: one row per training example: derivative of its weighted log loss with respect to its score.
-- Nonzero: 1 + EXP(score), 1 + EXP(-score).
-- Grain: doc_id
SELECT
  model_id, doc_id,
  weight * (CASE WHEN score > 0 THEN 1 / (1 + EXP(-score)) ELSE EXP(score) / (1 + EXP(score)) END - label) AS gradient
FROM scored_examples
