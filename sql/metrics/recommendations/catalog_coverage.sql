-- CatalogCoverage: share of the catalog that is among the first k of any list.
--     CatalogCoverage@k = distinct catalog items among the first k of any list / catalog items
-- Documents that are not in the catalog are left out; num_unlisted counts them.
-- Use when: you want many items to be shown to somebody. It ignores how often.
-- Reading: 0.2 means that 80 % of the catalog is in no list. It rises with k and with the number of lists.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Interval: none (it describes the data)
-- Range: 0 to 1.
-- Undefined: no list holds a document.
-- Unit: share of the catalog.
-- Source: RecTools CatalogCoverage(normalize=True); Ge et al. 2010.
SELECT
  group_id,
  SUM(is_in_catalog) / NULLIF(MAX(catalog_size), 0) AS catalog_coverage
FROM recommended_items
GROUP BY group_id
