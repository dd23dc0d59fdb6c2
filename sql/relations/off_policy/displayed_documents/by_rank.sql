-- displayed_documents: one row per list and document that was shown for its query: if clicked, the weight of a click there, and rank.
-- The weight follows from the rank at which the document was shown, not from that in the list. Rows have no doc_id.
-- $eta: number from 0 to 10, default 1: how fast attention decreases with the rank, under propensity=rank. 0 counts all clicks the same.
-- importance_weight(): default none: limit of the weight of a click.
-- Tie expectation: none
-- Grain: rows of clicks
SELECT
  ranked_lists.list_id,
  clicks.clicked, -- 1 or 0
  importance_weight(EXP($eta * LN(clicks.rank))) AS click_weight, -- inverse of the propensity
  ranked_documents.rank -- in the list; NULL if not retrieved
FROM clicks
JOIN ranked_lists ON ranked_lists.group_id = clicks.group_id AND ranked_lists.query_id = clicks.query_id
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = clicks.doc_id
