-- ESS: effective sample size: as how many actions of the target policy the logged ones count.
-- capped(): default none: what the ratio of the two probabilities counts for.
-- No interval: it describes the data.
-- Undefined: no logs, or the target does nothing of what was logged.
-- Source: Kish 1965.
SELECT
  group_id,
  SUM(capped(target / NULLIF(propensity, 0))) * SUM(capped(target / NULLIF(propensity, 0))) / NULLIF(SUM(capped(target / NULLIF(propensity, 0)) * capped(target / NULLIF(propensity, 0))), 0) AS ess
FROM logs
GROUP BY group_id
