-- ProviderExposure: one row per group and provider of a catalog item, the most exposed first: shares of exposure and catalog.
-- The exposure of a document is the sum over lists of the discount of its rank, if it is among the first k. Shares that are equal to
-- nine decimals are in the order of providers, since sums of the same numbers in another order differ in their last digits.
-- Use when: you want to see which providers get more exposure than their part of the catalog.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: exposure of a document at a rank.
-- Undefined: no catalog item is recommended.
-- Source: Singh and Joachims 2018.
SELECT
  group_id,
  ROW_NUMBER() OVER (
    PARTITION BY group_id ORDER BY FLOOR(COALESCE(exposure_share, 0) * 1000000000 + 0.5) DESC, provider
  ) AS point, -- number of the provider, from 1 for the most exposed
  provider,
  exposure_share, -- of the discounted first k ranks of all lists
  catalog_share -- of the items in the catalog
FROM provider_exposure
