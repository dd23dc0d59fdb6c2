-- class_concordances: one row per group, class and label: weight of the label, and of its pairs with the class that the class's score orders rightly.
-- A pair is a prediction of the class with one of the label; one of equal scores counts half.
-- Grain: group_id, class_id, label
SELECT
  group_id, class_id, label,
  SUM(weight) AS label_weight, -- of the predictions with the label
  SUM(weight * (positives_from - positives_up_to + all_positives) / 2) AS concordance -- weight of the pairs, the product of both weights
FROM (
  -- one row per group, class, score and label
  SELECT
    label_scores.*,
    SUM(CASE WHEN label = class_id THEN weight ELSE 0 END) OVER (PARTITION BY group_id, class_id ORDER BY score) AS positives_up_to, -- weight of positives at or below its score
    SUM(CASE WHEN label = class_id THEN weight ELSE 0 END) OVER (PARTITION BY group_id, class_id ORDER BY score DESC) AS positives_from, -- weight of positives at or above its score
    SUM(CASE WHEN label = class_id THEN weight ELSE 0 END) OVER (PARTITION BY group_id, class_id) AS all_positives -- weight of the class
  FROM (
    -- one row per group, class, score and label
    SELECT
      group_id, class_id, score, label,
      SUM(weight) AS weight
    FROM class_scores
    GROUP BY group_id, class_id, score, label
  ) AS label_scores
) AS cumulative_scores
GROUP BY group_id, class_id, label
