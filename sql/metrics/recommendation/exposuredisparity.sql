-- ExposureDisparity: least over greatest exposure of a provider, each in proportion to what it has of the catalogue.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- discount(): default log2: what a rank is worth.
-- No interval: lists share documents.
-- Undefined: no item of the catalogue is shown.
-- Source: Singh and Joachims 2018, disparate exposure.
SELECT
  group_id,
  MIN(exposure_share / NULLIF(catalogue_share, 0)) / NULLIF(MAX(exposure_share / NULLIF(catalogue_share, 0)), 0) AS exposuredisparity
FROM provided
GROUP BY group_id
