-- ExposureDisparity: least over greatest exposure of a provider, each in proportion to its share of the catalog.
-- Use when: items have providers, and each should get exposure in proportion to its part of the catalog.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: exposure of a document at a rank.
-- Interval: none (lists share documents)
-- Range: 0 to 1.
-- Undefined: no catalog item is recommended.
-- Source: Singh and Joachims 2018, disparate exposure.
SELECT
  group_id,
  MIN(exposure_share / NULLIF(catalog_share, 0)) / NULLIF(MAX(exposure_share / NULLIF(catalog_share, 0)), 0) AS exposure_disparity
FROM provider_exposure
GROUP BY group_id
