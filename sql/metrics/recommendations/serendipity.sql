-- Serendipity: how much higher relevant documents are ranked than by popularity, averaged over the first k of a list.
--     Serendipity@k = mean over i <= k of max(0, p(rank) - p(popularity rank))
--     p(r) = (n + 1 - r) / n
-- n is the number of catalog items; p is 0 for items without users. Documents that are not relevant count as 0.
-- Use when: relevant items that popularity alone would not find should count more.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a list without documents.
-- Source: RecTools Serendipity.
SELECT
  list_id,
  AVG(
    CASE
      WHEN rank <= $k THEN
        is_relevant * CASE
          WHEN popularity_rank > rank THEN popularity_rank - rank
          WHEN popularity_rank IS NULL AND rank <= catalog_size THEN catalog_size + 1 - rank
          ELSE 0
        END / NULLIF(catalog_size, 0)
    END
  ) AS serendipity
FROM serendipity_terms
GROUP BY list_id
