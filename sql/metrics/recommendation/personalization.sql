-- Personalization: how different the lists are: one less the cosine of the first k of two lists, on the mean over pairs.
--     Pairs are not formed: lists that share a document are counted document by document.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- No interval: lists share documents.
-- Undefined: fewer than two lists that hold documents.
-- Source: recmetrics personalization, for lists of any length.
SELECT
  group_id,
  1 - SUM(roots * roots - squares) / NULLIF(SUM(first_places) * (SUM(first_places) - 1), 0) AS personalization
FROM displayed
GROUP BY group_id
