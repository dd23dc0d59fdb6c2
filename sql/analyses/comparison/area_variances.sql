-- area_variances: one row per group, pair of systems and area such as AUC: difference and product of both standard errors, also if raised.
-- They are raised where few positives or negatives show too little.
-- Few positives may all be near the top, and then say nothing of those that are not. So the area is shrunk towards 1/2 by a pair. If the
-- variance of Hanley and McNeil there is the greater one, the variance grows by what the shrinkage adds to it, next to nothing with many rows.
-- A pair was chosen by simulation, tests/analyses/test_compare_coverage.py.
-- Source: Hanley & McNeil 1982; DeLong, DeLong & Clarke-Pearson 1988.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair, metric,
  SUM(sign * SQRT(variance)) AS gap,
  MIN(SQRT(variance)) * MAX(SQRT(variance)) AS product,
  SUM(sign * SQRT(raised_variance)) AS raised_gap,
  MIN(SQRT(raised_variance)) * MAX(SQRT(raised_variance)) AS raised_product
FROM (
  -- one row per group, pair of systems, area and system
  SELECT
    cell, pair, metric,
    sign, -- 1: the baseline, -1: the system
    variance,
    CASE
      WHEN shrunk_variance <= variance OR shrunk_variance <= expected_variance THEN variance
      WHEN variance > expected_variance THEN shrunk_variance
      ELSE variance + shrunk_variance - expected_variance
    END AS raised_variance
  FROM (
    -- one row per group, pair of systems, area and system
    SELECT
      cell, pair, metric, sign, variance,
      area_width * area_width * area * (1 - area) * auc_variance_ratio(area, positive_size, negative_size) AS expected_variance,
      area_width * area_width * center * (1 - center) * auc_variance_ratio(center, positive_size, negative_size) AS shrunk_variance
    FROM (
      -- one row per group, pair of systems, area and system
      SELECT
        compared_areas.*,
        (area * smaller(positive_size, negative_size) + 0.5) / (smaller(positive_size, negative_size) + 1) AS center
      FROM compared_areas
    ) AS shrunk_areas
  ) AS expected_variances
) AS raised_variances
GROUP BY cell, pair, metric
