-- audit: what the checks of the input read beside the metrics: a document that stands twice in a list is joined to its
-- judgment twice, and no retrieved document at all means that run and judgments do not belong together.
SELECT
  list_id,
  SUM(docs) AS audit_docs,
  COUNT(rank) AS audit_retrieved
FROM valued
GROUP BY list_id
