-- log_losses: one row per model: mean log loss of the logistic function of its scores, by weight, and the weight of its examples.
-- An example on the right side of 0 by the score m adds ln(1 + exp(-m)), in a form that no large score overflows.
-- Grain: model_id
SELECT
  model_id,
  SUM(weight * CASE WHEN signed_score > 0 THEN LN(1 + EXP(-signed_score)) ELSE LN(1 + EXP(signed_score)) - signed_score END)
    / NULLIF(SUM(weight), 0) AS loss,
  SUM(weight) AS total_weight
FROM (
  -- one row per training example
  SELECT model_id, weight, (2 * label - 1) * score AS signed_score
  FROM scored_examples
) AS signed_examples
GROUP BY model_id
