-- sample_ratio_test: one row, with the chi-square test of the numbers of units against the planned shares, and its p-value.
-- The p-value is the integral of z ^ (freedom - 1) * EXP(-z * z / 2) beyond the root of the statistic, over the whole integral. The
-- density is relative to its peak, and counts as 0 at 8 below that.
-- Grain: one row
SELECT
  MAX(units) AS n_units,
  MAX(statistic) AS statistic,
  MAX(freedom) AS df,
  MAX(multi_variant_units) AS multi_variant_units,
  SUM(is_tail * weight * height) / NULLIF(SUM((1 - is_tail) * weight * height), 0) AS p_value
FROM (
  SELECT
    units,
    statistic,
    freedom,
    multi_variant_units,
    is_tail,
    weight,
    CASE WHEN log_height > -700 THEN EXP(log_height) ELSE 0 END AS height
  FROM (
    SELECT
      units,
      statistic,
      freedom,
      multi_variant_units,
      is_tail,
      weight,
      CASE WHEN freedom > 1 THEN (freedom - 1) * LN(z / NULLIF(peak, 0)) ELSE 0 END - (z * z - peak * peak) / 2 AS log_height
    FROM (
      SELECT
        b.units,
        b.statistic,
        b.freedom,
        b.multi_variant_units,
        b.is_tail,
        b.peak,
        4 * p.weight / (4 + b.slope) AS weight,
        b.z + 4 * p.place / (4 + b.slope) AS z
      FROM (
        SELECT
          units,
          statistic,
          freedom,
          multi_variant_units,
          is_tail,
          peak,
          CASE WHEN root > peak - 8 THEN root ELSE peak - 8 END AS z,
          CASE WHEN root > peak THEN root - peak * peak / NULLIF(root, 0) ELSE 0 END AS slope
        FROM (
          SELECT
            r.units,
            r.statistic,
            r.freedom,
            r.multi_variant_units,
            t.is_tail,
            CASE WHEN r.freedom > 1 THEN SQRT(r.freedom - 1) ELSE 0 END AS peak,
            SQRT(t.is_tail * r.statistic) AS root
          FROM sample_ratio_statistic AS r
          CROSS JOIN (SELECT 0 AS is_tail UNION ALL SELECT 1 AS is_tail) AS t
        ) AS rooted
      ) AS b
      CROSS JOIN quadrature_nodes AS p
    ) AS moved
  ) AS logs
) AS heights
