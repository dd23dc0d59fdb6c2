-- welch_df: Welch's degrees of freedom of a difference of two means, share that of the first in its variance.
-- Source: Welch 1947.
CREATE MACRO welch_df(share, units, other_units) AS
  1 / NULLIF(share * share / NULLIF(units - 1, 0) + (1 - share) * (1 - share) / NULLIF(other_units - 1, 0), 0)
