-- Personalization: how different the lists are: one less the cosine of the first k of two lists, averaged over pairs.
--     Personalization@k = 1 - mean over pairs of lists of cosine(first k of both)
-- Pairs are not formed, since lists that share a document are counted document by document.
-- Use when: you want to see if users get different lists.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Interval: none (lists share documents)
-- Range: 0 to 1.
-- Undefined: fewer than two lists that hold documents.
-- Source: recmetrics personalization, for lists of any length.
SELECT
  group_id,
  1 - SUM(norm_sum * norm_sum - norm_square_sum) / NULLIF(SUM(num_first_ranks) * (SUM(num_first_ranks) - 1), 0) AS personalization
FROM recommendation_counts
GROUP BY group_id
