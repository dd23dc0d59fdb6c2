-- qrels: one row per group, query and element of the array answers.relevant: its grade from the array grades, or 1 without grades.
-- Grain: many per group_id, query_id
SELECT
  answers.group_id, answers.query_id, relevant_ids.doc_id,
  CASE
    WHEN answers.grades IS NULL THEN CAST(1 AS DOUBLE)
    ELSE CAST(answers.grades[relevant_ids.list_position] AS DOUBLE)
  END AS relevance
FROM answers
CROSS JOIN UNNEST(answers.relevant) WITH ORDINALITY AS relevant_ids(doc_id, list_position)
