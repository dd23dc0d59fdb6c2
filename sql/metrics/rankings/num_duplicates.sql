-- num_duplicates: number of rows of run and judgments left out by duplicates=max, or of further subtopics: other rows hold their documents.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(num_copies - 1) AS num_duplicates
FROM document_row_counts
GROUP BY list_id
