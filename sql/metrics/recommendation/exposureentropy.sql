-- ExposureEntropy: Shannon's entropy of the shares that documents have of all showings among the first k.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- $base: number above 1, default 2.718281828459045: the base of the logarithm.
-- No interval: lists share documents.
-- Undefined: no list holds a document.
-- Source: Shannon 1948; with base=2 that of LensKit.
-- Never zero: LN($base).
SELECT
  group_id,
  SUM(shows / NULLIF(all_shows, 0) * LN(all_shows / NULLIF(shows, 0))) / LN($base) AS exposureentropy
FROM attention
GROUP BY group_id
