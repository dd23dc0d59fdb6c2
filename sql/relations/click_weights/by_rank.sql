-- click_weights: one row per group, query and document that was shown: if clicked, and the weight of a click there.
-- $eta: number from 0 to 10, default 1: how fast attention decreases with the rank, under propensity=rank. 0 counts all clicks the same.
-- importance_weight(): default none: limit of the weight of a click.
-- Grain: rows of clicks
SELECT
  group_id,
  query_id,
  doc_id,
  clicked, -- 1 or 0
  importance_weight(EXP($eta * LN(rank))) AS click_weight -- inverse of the propensity
FROM clicks
