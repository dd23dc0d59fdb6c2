-- grouped_clicks: one row per group and document that was shown for one of its queries: if clicked, and the weight of a click there.
-- Rows have no doc_id.
-- Grain: many per group_id
SELECT
  list_groups.group_id,
  click_weights.clicked, -- 1 or 0
  click_weights.click_weight -- inverse of the propensity
FROM click_weights
JOIN ranked_lists ON ranked_lists.group_id = click_weights.group_id AND ranked_lists.query_id = click_weights.query_id
JOIN list_groups ON list_groups.list_id = ranked_lists.list_id
