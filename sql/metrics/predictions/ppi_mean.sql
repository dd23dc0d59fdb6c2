-- PPIMean: mean label of all items, of which people labelled some and a judge scored all: mean of the labels, corrected by the scores.
--     PPIMean = mean label + lambda (mean score of unlabelled items - mean score of labelled items)
-- Full name: prediction-powered mean.
-- Use when: a model scored all items, and people labelled a random part. The interval is narrower than that of the labels, and right for any judge.
-- Interval: influence mean_influence FROM rectified_scores
-- Range: -inf to inf.
-- Undefined: fewer than 20 labels.
-- Unit: in units of the label.
-- Source: Angelopoulos, Duchi & Zrnic 2023, PPI++; ppi_py ppi_mean_pointestimate.
SELECT
  group_id,
  MAX(corrected_mean) AS ppi_mean -- the same in all rows
FROM rectified_scores
GROUP BY group_id
