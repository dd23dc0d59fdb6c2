-- usual: one row per document of the baseline with its place there; in the order of its rank column.
SELECT
  group_id,
  query_id,
  doc_id,
  ROW_NUMBER() OVER (PARTITION BY group_id, query_id ORDER BY rank, doc_id DESC) AS place
FROM baseline
