-- click_weights: one row per group, query and document that was shown, with its propensity: if clicked, and the weight of a click there.
-- importance_weight(): default none: limit of the weight of a click.
-- Grain: rows of clicks
SELECT
  group_id,
  query_id,
  doc_id,
  clicked, -- 1 or 0
  importance_weight(1 / NULLIF(propensity, 0)) AS click_weight -- inverse of the propensity
FROM clicks
