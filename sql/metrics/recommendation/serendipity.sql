-- Serendipity: how much higher relevant documents stand than by popularity, on the mean over the first k of a list.
--     mean of max(0, p(rank) - p(place by popularity)) over the first k, 0 if not relevant, where p(r) = (n + 1 - r) / n
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- no_relevant(): default skip: what becomes of a list for which it is not defined.
-- n is the number of items of the catalogue; p is 0 for what nobody had before.
-- Bounds: 0 to 1.
-- Undefined: a list without documents.
-- Source: RecTools Serendipity.
SELECT
  list_id,
  AVG(
    CASE
      WHEN rank <= $k THEN
        is_relevant * CASE
          WHEN place > rank THEN place - rank
          WHEN place IS NULL AND rank <= catalogue_docs THEN catalogue_docs + 1 - rank
          ELSE 0
        END / NULLIF(catalogue_docs, 0)
    END
  ) AS serendipity
FROM delights
GROUP BY list_id
