-- logs: one row: rules for logged actions; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(reward) AS null_reward, -- reward is NULL. Give 0 if nothing happened
  SUM(CASE WHEN ISNAN(propensity) THEN 1 ELSE 0 END) AS nan_propensity, -- propensity is NaN
  SUM(CASE WHEN propensity < 1e-90 THEN 1 ELSE 0 END) AS nonpositive_propensity, -- propensity is not above 0 (at least 1e-90)
  SUM(CASE WHEN propensity > 1 THEN 1 ELSE 0 END) AS large_propensity, -- propensity is not a probability
  SUM(CASE WHEN ISNAN(target_propensity) THEN 1 ELSE 0 END) AS nan_target_propensity, -- target_propensity is NaN
  SUM(CASE WHEN target_propensity < 0 OR target_propensity > 1 THEN 1 ELSE 0 END) AS improbable_target_propensity, -- target_propensity is not a probability, from 0 to 1
  COUNT(*) - COUNT(unit_id) AS null_unit_id -- unit_id is NULL. For intervals it has to be known which rows belong together
FROM logs
