-- wilson_spread: margin m by which Wilson's limits are p^2 / (p + m) and p + (1 - p) m / (1 - p + m).
-- The limits are share^2 / (share + spread), and share + (1 - share) * spread / (1 - share + spread).
-- These have no difference that rounding could bring below 0 or above 1. The shrinkage is t^2 / n, for n trials and the quantile t; the
-- same limits are usually written as (share + t^2 / 2n -+ t sqrt(share (1 - share) / n + t^2 / 4n^2)) / (1 + t^2 / n).
-- Source: Wilson 1927.
CREATE MACRO wilson_spread(share, shrinkage) AS shrinkage / 2 + SQRT(shrinkage * share * (1 - share) + shrinkage * shrinkage / 4)
