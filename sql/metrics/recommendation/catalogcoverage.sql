-- CatalogCoverage: share of the catalogue that stands among the first k of any list.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- Documents that the catalogue does not have are left out; num_unlisted counts them.
-- No interval: it describes the data.
-- Undefined: no list holds a document.
-- Unit: share of the catalogue.
-- Source: RecTools CatalogCoverage(normalize=True); Ge et al. 2010.
SELECT
  group_id,
  SUM(is_listed) / NULLIF(MAX(catalogue_docs), 0) AS catalogcoverage
FROM exposures
GROUP BY group_id
