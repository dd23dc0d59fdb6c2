-- PFound: probability that a reader finds a relevant document, who gives up after each one with probability p_break.
--     PFound@k = sum over i <= k of stop_probability(r_i) * (1 - p_break)^(i-1) * product over j < i of (1 - stop_probability(r_j))
-- A product below 1e-304 counts as 0: some engines have an error for what no double holds. LN has a CASE of its own, since engines may
-- compute it for rows that another branch decides.
-- Full name: Yandex's pFound.
-- Use when: users stop when they find what they want or lose patience, and grades say how likely a find is.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- $p_break: number from 0 to 1, default 0.15: probability of giving up after a document.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: Yandex (Gulin, Karpovich, Raskovalov & Segalovich 2009); CatBoost PFound.
SELECT
  list_id,
  SUM(
    CASE
      WHEN rank > $k OR rank IS NULL THEN 0
      WHEN rank = 1 THEN stop_probability
      WHEN $p_break >= 1 THEN 0
      WHEN reach_probability <= 0 THEN 0
      WHEN LN(CASE WHEN reach_probability > 0 THEN reach_probability ELSE 1 END) + (rank - 1) * LN(CASE WHEN $p_break < 1 THEN 1 - $p_break ELSE 1 END) < -700 THEN 0
      ELSE reach_probability * stop_probability * EXP((rank - 1) * LN(CASE WHEN $p_break < 1 THEN 1 - $p_break ELSE 1 END))
    END
  ) AS pfound
FROM cascade_probabilities
GROUP BY list_id
