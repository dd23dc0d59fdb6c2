-- predictions: one row: rules for predictions; each column counts the rows that break the rule in its comment.
-- The words before a colon in a comment are a requirement of metrics (-- Requires:), and the rule applies to these metrics only.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(unit_id) AS null_unit_id, -- unit_id is NULL. For intervals it has to be known which rows belong together
  COUNT(*) - COUNT(label) AS null_label, -- label is NULL. Leave the row out, or give nulls='drop'
  SUM(CASE WHEN ISNAN(label) OR ISINF(label) THEN 1 ELSE 0 END) AS nan_label, -- label is NaN or infinite. Leave the row out
  COUNT(*) - COUNT(score) AS null_score, -- score is NULL. Give it a value, leave the row out, or give nulls='drop'
  SUM(CASE WHEN ISNAN(score) THEN 1 ELSE 0 END) AS nan_score, -- score is NaN, which would be ranked first. Give it a value, or leave the row out
  SUM(CASE WHEN NOT label IN (0, 1) THEN 1 ELSE 0 END) AS nonbinary_label, -- binary labels: label is neither 0 nor 1. Map a condition to it, such as rating >= 4
  SUM(CASE WHEN label < 0 THEN 1 ELSE 0 END) AS negative_label, -- labels from 0: label is negative
  SUM(CASE WHEN score < 0 OR score > 1 THEN 1 ELSE 0 END) AS improbable_score, -- probabilities: score is not a probability, from 0 to 1. Map one to it, such as 1 / (1 + EXP(-logit))
  SUM(CASE WHEN score < 0 OR score > 1 THEN 1 ELSE 0 END) AS unthresholded_score, -- scores from 0 to 1: score is not from 0 to 1, for which the default threshold of 0.5 is. Give the threshold of these scores, such as threshold=0 for log odds, or map a probability to score
  SUM(CASE WHEN score <= 0 THEN 1 ELSE 0 END) AS nonpositive_score, -- positive scores: score is not above 0
  SUM(CASE WHEN label <= -1 OR score <= -1 THEN 1 ELSE 0 END) AS negative_logarithm, -- values above -1: label or score is not above -1, so that 1 + it has no logarithm
  SUM(CASE WHEN ISINF(score) THEN 1 ELSE 0 END) AS infinite_score, -- finite scores: score is infinite
  SUM(CASE WHEN quantile_level <= 0 OR quantile_level >= 1 THEN 1 ELSE 0 END) AS improbable_quantile_level, -- quantile levels: quantile_level is not between 0 and 1
  SUM(CASE WHEN ISINF(interval_low) OR ISINF(interval_high) THEN 1 ELSE 0 END) AS infinite_interval, -- ordered intervals: a limit of the interval is infinite
  SUM(CASE WHEN interval_low > interval_high THEN 1 ELSE 0 END) AS reversed_interval, -- ordered intervals: interval_low is above interval_high
  SUM(CASE WHEN seasonal_error <= 0 OR ISINF(seasonal_error) THEN 1 ELSE 0 END) AS unscaled -- scales above 0: seasonal_error is not a number above 0. Leave out series that do not change in training
FROM predictions
