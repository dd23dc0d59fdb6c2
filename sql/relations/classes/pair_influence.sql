-- pair_influence: one row per group and pair of an observed and a predicted class: its predictions, weights, and influence on weighted kappa.
-- Influence is the derivative of weighted kappa by the weight of a prediction of the pair.
-- Source: the delta method.
-- Grain: group_id, label, predicted
SELECT
  group_id, label, predicted, num_predictions, weight,
  weight_squares, -- sum of squared weights
  even_predictions, -- units of one weight with the same sums of powers
  (disagreement_ratio * (label_disagreement + predicted_disagreement) - total_weight * disagreement - observed_disagreement)
    / NULLIF(chance_disagreement, 0) AS weighted_kappa_influence -- derivative by the weight of a prediction
FROM (
  -- one row per group and pair of an observed and a predicted class
  SELECT
    pair_sums.*,
    observed_disagreement * total_weight / NULLIF(chance_disagreement, 0) AS disagreement_ratio
  FROM (
    -- one row per group and pair of an observed and a predicted class
    SELECT
      class_pairs.*,
      SUM(disagreement * predicted_weight) OVER (PARTITION BY group_id, label) AS label_disagreement, -- of the label with all predictions
      SUM(disagreement * label_weight) OVER (PARTITION BY group_id, predicted) AS predicted_disagreement, -- of the class with all labels
      SUM(weight) OVER (PARTITION BY group_id) AS total_weight,
      SUM(disagreement * weight) OVER (PARTITION BY group_id) AS observed_disagreement,
      SUM(disagreement * label_weight * predicted_weight) OVER (PARTITION BY group_id) AS chance_disagreement
    FROM class_pairs
  ) AS pair_sums
) AS pair_ratios
