-- displayed_documents: one row per list and document that was shown for its query: if clicked, the weight of a click there, and its rank in the list.
-- The weight follows from the rank at which the document was shown, not from that in the list. Rows have no doc_id.
-- Tie expectation: none
-- Grain: rows of click_weights
SELECT
  ranked_lists.list_id,
  click_weights.clicked, -- 1 or 0
  click_weights.click_weight, -- inverse of the propensity
  ranked_documents.rank -- NULL if not retrieved
FROM click_weights
JOIN ranked_lists ON ranked_lists.group_id = click_weights.group_id AND ranked_lists.query_id = click_weights.query_id
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = click_weights.doc_id
