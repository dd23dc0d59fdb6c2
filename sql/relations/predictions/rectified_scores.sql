-- rectified_scores: one row per item: sampled unit, prediction-powered mean of all items, and influence of the item on it.
-- The mean is that of the labels, plus a weight times the mean score of unlabelled items less that of labelled ones. The weight is 0 for a judge
-- that is no help, and at most 1. Mean and influence are NULL with fewer than 20 labels, whose intervals would not hold, and the influence
-- also if all labels are equal: they do not show how labels vary. The covariance is over n and the variance over n - 1, as in ppi_py.
-- Sampling unit: predictions.
-- Source: Angelopoulos, Duchi & Zrnic 2023, PPI++: the weight has the least variance, from the covariance of labels and scores.
-- Grain: rows of judged
SELECT
  group_id,
  unit_id, -- what was sampled independently
  1 AS influence_weight, -- an item counts once
  1 AS num_units, -- the row is one item
  CASE
    WHEN num_labels < 20 THEN NULL
    WHEN num_unlabelled = 0 THEN label_mean
    ELSE label_mean + judge_weight * (unlabelled_mean - labelled_mean)
  END AS corrected_mean, -- the same for all items
  CASE
    WHEN num_labels < 20 OR label_squares = 0 THEN NULL
    WHEN label IS NULL THEN judge_weight * (score - unlabelled_mean) / NULLIF(num_unlabelled, 0)
    ELSE (label - label_mean - judge_weight * (score - labelled_mean)) / NULLIF(num_labels, 0)
  END AS mean_influence
FROM (
  -- one row per item
  SELECT
    score_moments.*,
    CASE
      WHEN score_variance > 0 AND covariance > 0
        THEN CASE
          WHEN covariance * num_unlabelled >= score_variance * (num_unlabelled + num_labels) THEN 1
          ELSE covariance * num_unlabelled / NULLIF(score_variance * (num_unlabelled + num_labels), 0)
        END
      ELSE 0
    END AS judge_weight -- slope of labels on scores times the share without a label
  FROM (
    -- one row per item
    SELECT
      score_means.*,
      SUM((label - label_mean) * (label - label_mean)) OVER (PARTITION BY group_id) AS label_squares, -- of deviations of labels from their mean
      SUM((label - label_mean) * (score - labelled_mean)) OVER (PARTITION BY group_id) / NULLIF(num_labels, 0) AS covariance, -- of labels and scores of labelled items
      SUM((score - score_mean) * (score - score_mean)) OVER (PARTITION BY group_id) / NULLIF(num_labels + num_unlabelled - 1, 0) AS score_variance -- of all scores
    FROM (
      -- one row per item
      SELECT
        judged.*,
        SUM(CASE WHEN label IS NULL THEN 0 ELSE 1 END) OVER (PARTITION BY group_id) AS num_labels,
        SUM(CASE WHEN label IS NULL THEN 1 ELSE 0 END) OVER (PARTITION BY group_id) AS num_unlabelled,
        AVG(label) OVER (PARTITION BY group_id) AS label_mean,
        AVG(score) OVER (PARTITION BY group_id) AS score_mean,
        AVG(CASE WHEN label IS NULL THEN NULL ELSE score END) OVER (PARTITION BY group_id) AS labelled_mean, -- score of labelled items
        AVG(CASE WHEN label IS NULL THEN score END) OVER (PARTITION BY group_id) AS unlabelled_mean -- score of the others
      FROM judged
    ) AS score_means
  ) AS score_moments
) AS weighted_scores
