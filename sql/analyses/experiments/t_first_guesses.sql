-- t_first_guesses: one row per metric, treatment and purpose: z of its p-value, or a first guess of that of its quantile.
-- Note: For a p-value t is known, and z^2 = df * LN(1 + t^2 / df). For a quantile z is guessed from a normal quantile and df, to 0.04. LN(1 + x) * x / (1 + x - 1) keeps its digits.
-- The increase at few degrees of freedom is ours. Newton steps then correct the guess.
-- Both roundings of 1 + x cancel.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose, df, alpha, normalizer,
  CASE
    WHEN purpose = 'p'
    THEN SQRT(df * COALESCE(LN(1 + t_squared_by_df) * t_squared_by_df / NULLIF(1 + t_squared_by_df - 1, 0), t_squared_by_df))
    ELSE normal_quantile(z_bound)
    + (z_bound - 1.12) / (4 * df + 0.44 * z_bound * z_bound - 2.1)
  END AS z
FROM t_normalizers
