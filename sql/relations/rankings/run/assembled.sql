-- run: one row per group, query and retrieved document of answers: its score, or without scores the negated rank, and its rank.
-- Grain: many per group_id, query_id
SELECT
  answers.group_id, answers.query_id, retrieved_ids.doc_id,
  CASE
    WHEN answers.scores IS NULL THEN 0 - CAST(retrieved_ids.list_position AS DOUBLE)
    ELSE CAST(answers.scores[retrieved_ids.list_position] AS DOUBLE)
  END AS score, -- without scores the negated position
  retrieved_ids.list_position AS rank -- position in the list, from 1
FROM answers
CROSS JOIN UNNEST(answers.retrieved) WITH ORDINALITY AS retrieved_ids(doc_id, list_position)
