-- area_influence: one row per group, prediction and class: sampled unit, weight, and influence of the class's score on the average AUC.
--     influence = sum over the pairs of the prediction of weight * share * order - mean_share + average_by_weight
-- A pair is of a prediction of the class and another one. Its order is 1 if the former has the higher score, 1 / 2 if scores are equal, else 0:
-- half of the sum of those at or below the score and those below it.
-- Sampling unit: predictions.
-- Source: the delta method; DeLong, DeLong & Clarke-Pearson 1988.
-- Grain: rows of class_scores
SELECT
  group_id,
  unit_id, -- what was sampled independently
  weight, -- of the prediction
  weight AS influence_weight, -- of the prediction
  1 AS num_units, -- the row is one prediction
  CASE
    WHEN mean_share IS NULL THEN 0
    WHEN label = class_id THEN (others_up_to - others_from + all_others) / 2 - mean_share + average_by_weight
    ELSE pair_share * (positives_from - positives_up_to + all_positives) / 2 - mean_share + average_by_weight
  END AS area_influence -- 0 where the class has no area
FROM (
  -- one row per group, prediction and class
  SELECT
    class_scores.*,
    area_derivatives.pair_share, area_derivatives.mean_share, area_derivatives.average_by_weight,
    SUM(class_scores.weight * area_derivatives.pair_share) OVER (
      PARTITION BY class_scores.group_id, class_scores.class_id ORDER BY class_scores.score
    ) AS others_up_to, -- shares of pairs with others at or below its score
    SUM(class_scores.weight * area_derivatives.pair_share) OVER (
      PARTITION BY class_scores.group_id, class_scores.class_id ORDER BY class_scores.score DESC
    ) AS others_from, -- shares of pairs with others at or above its score
    SUM(class_scores.weight * area_derivatives.pair_share) OVER (PARTITION BY class_scores.group_id, class_scores.class_id) AS all_others, -- shares of pairs with all others
    SUM(CASE WHEN class_scores.label = class_scores.class_id THEN class_scores.weight ELSE 0 END) OVER (
      PARTITION BY class_scores.group_id, class_scores.class_id ORDER BY class_scores.score
    ) AS positives_up_to, -- weight of positives at or below its score
    SUM(CASE WHEN class_scores.label = class_scores.class_id THEN class_scores.weight ELSE 0 END) OVER (
      PARTITION BY class_scores.group_id, class_scores.class_id ORDER BY class_scores.score DESC
    ) AS positives_from, -- weight of positives at or above its score
    SUM(CASE WHEN class_scores.label = class_scores.class_id THEN class_scores.weight ELSE 0 END) OVER (
      PARTITION BY class_scores.group_id, class_scores.class_id
    ) AS all_positives -- weight of all positives
  FROM class_scores
  LEFT JOIN area_derivatives
    ON class_scores.group_id = area_derivatives.group_id
    AND class_scores.class_id = area_derivatives.class_id
    AND class_scores.label = area_derivatives.label
) AS scores_with_pairs
