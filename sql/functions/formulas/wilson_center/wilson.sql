-- wilson_center: center of Wilson's interval for a share of a number of trials, the share shrunk towards 1/2, by a normal quantile.
-- Source: Wilson 1927.
CREATE MACRO wilson_center(share, trials, normal) AS
  (share + normal * normal / NULLIF(2 * trials, 0)) / NULLIF(1 + normal * normal / NULLIF(trials, 0), 0)
