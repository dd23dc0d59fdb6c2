-- Share of predictions: share of predictions for which a column is true, by weight.
-- Use when: each prediction passes or fails a check of your own.
-- $column: flag: column of the predictions, true or false, or 1 or 0.
-- Range: 0 to 1.
-- Undefined: no value, or all of weight 0.
-- Source: proportion.
SELECT
  group_id,
  SUM(CASE WHEN $column IS NULL THEN 0 ELSE weight * $column END)
    / NULLIF(SUM(CASE WHEN $column IS NULL THEN 0 ELSE weight END), 0) AS share
FROM predictions
GROUP BY group_id
