-- ProviderExposure: a row per provider, the most exposed first: its share of the exposure of all lists, and of the catalogue.
--     The exposure of a document is the sum over lists of what its rank is worth, if it is among the first k. Shares that are the same to
--     nine decimals are in the order of providers, since sums of the same numbers in another order differ in their last digits.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- discount(): default log2: what a rank is worth.
-- Undefined: no item of the catalogue is shown.
-- Source: Singh and Joachims 2018.
SELECT
  group_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY FLOOR(COALESCE(exposure_share, 0) * 1000000000 + 0.5) DESC, provider) AS point,
  provider,
  exposure_share,
  catalogue_share
FROM provided
