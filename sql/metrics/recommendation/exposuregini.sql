-- ExposureGini: how unequally the items of the catalogue are shown, from 0 (all alike) towards 1 (one item alone).
--     sum over items in ascending order of (2 j - n - 1) * lists that show item j, over n * all showings; those not shown count
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- No interval: lists share documents.
-- Undefined: no item of the catalogue is shown.
-- Source: Gini 1912; Fleder and Hosanagar 2009. Evidently leaves out what is not shown, and divides by n - 1.
-- Better: lower.
SELECT
  group_id,
  SUM((2 * place - catalogue_docs - 1) / NULLIF(catalogue_docs, 0) * shows) / NULLIF(SUM(shows), 0) AS exposuregini
FROM ladder
GROUP BY group_id
