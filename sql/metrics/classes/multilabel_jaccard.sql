-- MultilabelJaccard: average of the Jaccard index of observed and predicted classes, over classes or predictions.
--     MultilabelJaccard = sum over classes c of share(c) TP(c) / (TP(c) + FP(c) + FN(c))
-- The sum is over predictions instead under average=samples.
-- Full name: multilabel Jaccard index.
-- Use when: you compare sets of classes, such as tags, by their overlap.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Range: 0 to 1.
-- Interval: influence jaccard_influence FROM label_influence
-- Undefined: no predictions or no classes, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn jaccard_score.
SELECT
  group_id,
  CASE
    WHEN SUM(weight) > 0
      THEN average_by_share(zero_division(jaccard(num_hits, num_observed, num_predicted)), jaccard_share)
  END AS multilabel_jaccard
FROM averaged_label_sets
GROUP BY group_id
