-- ExposureGini: how unequally catalog items are recommended, from 0 (all equally) towards 1 (one item alone).
--     ExposureGini@k = (sum over items j of (2 j - n - 1) * lists that recommend item j) / (n * all recommendations)
-- Items are in ascending order, and all count.
-- Full name: Gini coefficient of exposure.
-- Use when: you want to see if few items get most of the exposure.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Interval: none (lists share documents)
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no catalog item is recommended.
-- Source: Gini 1912; Fleder and Hosanagar 2009; LensKit ListGini. Evidently leaves out items that are not recommended, and divides by n - 1.
SELECT
  group_id,
  SUM((2 * ascending_rank - catalog_size - 1) / NULLIF(catalog_size, 0) * num_recommendations)
    / NULLIF(SUM(num_recommendations), 0) AS exposure_gini
FROM exposed_items
GROUP BY group_id
