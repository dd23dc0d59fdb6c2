-- IntraListDiversity: how different two of the first k documents of a list are by their features, averaged over pairs.
-- Pairs are not formed, since documents are counted category by category.
-- A document without features has no category, and a cosine of 0 with all others.
-- Full name: intra-list diversity.
-- Use when: lists should not repeat similar items, and you have features of items.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- distance: default hamming: hamming, cosine or category.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to inf.
-- Undefined: a list of fewer than two documents, where RecTools has 0.
-- Source: Ziegler et al. 2005; RecTools IntraListDiversity; category: Simpson 1949.
SELECT
  list_id,
  MAX(mean_distance) AS intra_list_diversity -- of its one row
FROM list_distances
GROUP BY list_id
