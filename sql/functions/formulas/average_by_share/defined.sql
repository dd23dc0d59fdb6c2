-- average_by_share: average of the values that are not NULL, by unnormalized shares; the plain average without shares.
-- There are none if no class that has a value is ever observed, for example. All rows then count the same.
CREATE MACRO average_by_share(value, share) AS
  COALESCE(SUM(share * value) / NULLIF(SUM(CASE WHEN value IS NULL THEN 0 ELSE share END), 0), AVG(value))
