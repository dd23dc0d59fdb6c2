-- grouped_clicks: one row per group and document that was shown for one of its queries: if clicked, and the weight of a click there.
-- Rows have no doc_id.
-- Grain: many per group_id
SELECT
  list_groups.group_id,
  displayed_documents.clicked, -- 1 or 0
  displayed_documents.click_weight -- inverse of the propensity
FROM list_groups
JOIN displayed_documents ON displayed_documents.list_id = list_groups.list_id
