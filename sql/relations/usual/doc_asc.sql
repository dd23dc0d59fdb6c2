-- usual: one row per document of the baseline with its place there; equal scores by doc_id, smallest first.
SELECT
  group_id,
  query_id,
  doc_id,
  ROW_NUMBER() OVER (PARTITION BY group_id, query_id ORDER BY score DESC, doc_id) AS place
FROM baseline
