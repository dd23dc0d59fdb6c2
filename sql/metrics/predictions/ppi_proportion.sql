-- PPIProportion: share of all items that people would label 1, of which they labelled some and a judge scored all: PPIMean of 0 and 1.
-- Full name: prediction-powered proportion.
-- Use when: labels are yes or no, such as right or wrong. The interval is Wilson's, for the trials that labels and scores are worth together.
-- Requires: binary labels.
-- Interval: influence mean_influence FROM rectified_scores
-- Range: 0 to 1.
-- Undefined: fewer than 20 labels, labels that are all equal, or scores that move the share out of the range.
-- Source: Angelopoulos, Duchi & Zrnic 2023, PPI++; ppi_py ppi_mean_pointestimate.
SELECT
  group_id,
  CASE WHEN MAX(corrected_mean) > 0 AND MAX(corrected_mean) < 1 THEN MAX(corrected_mean) END AS ppi_proportion
FROM rectified_scores
GROUP BY group_id
