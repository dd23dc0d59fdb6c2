-- The middle of Wilson's interval for a share of so many trials: the share drawn towards 1/2. normal is a quantile.
-- Source: Wilson 1927.
CREATE MACRO shrunken(share, trials, normal) AS
  (share + normal * normal / NULLIF(2 * trials, 0)) / NULLIF(1 + normal * normal / NULLIF(trials, 0), 0)
