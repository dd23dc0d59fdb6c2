-- displayed_documents: one row per list and document that was shown for its query: if clicked, the weight of a click there as given, and rank.
-- Rows have no doc_id.
-- importance_weight(): default none: limit of the weight of a click.
-- Tie expectation: none
-- Grain: rows of clicks
SELECT
  ranked_lists.list_id,
  clicks.clicked, -- 1 or 0
  importance_weight(1 / NULLIF(clicks.propensity, 0)) AS click_weight, -- inverse of the propensity
  ranked_documents.rank -- in the list; NULL if not retrieved
FROM clicks
JOIN ranked_lists ON ranked_lists.group_id = clicks.group_id AND ranked_lists.query_id = clicks.query_id
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = clicks.doc_id
