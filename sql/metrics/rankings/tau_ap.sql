-- TauAP: rank correlation of the list with the baseline's list, where differences at the top count most, of the documents that both have.
--     TauAP = 2 / (n - 1) sum over shared documents at positions i > 1 of (documents above it in both lists) / (i - 1) - 1
-- Full name: rank correlation weighted to the top.
-- Use when: both rankings have the same documents, and swaps at the top should count most.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: -1 to 1.
-- Undefined: a query of which both lists have fewer than two documents in common.
-- Direction: neither.
-- Reads: previous run as baseline.
-- Source: Yilmaz, Aslam & Robertson 2008.
-- Nonzero: shared_position - 1.
SELECT
  list_id,
  2 * AVG(concordant_above / (shared_position - 1)) - 1 AS tau_ap
FROM concordant_counts
GROUP BY list_id
