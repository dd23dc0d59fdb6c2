-- retrieved_lists: one row per list that answers has: its documents, best first, and its number of distinct documents.
-- A list without repeated documents among the first has ranks for positions; what is repeated below them changes no rank that is read.
-- Hashes of different documents may be equal, which costs time only: such a list is counted by its documents.
-- LIST_SELECT takes a quarter of the time of a slice.
-- $num_ranked: integer from 1, default all: number of top-ranked documents of a list that are needed.
-- Engines: duckdb
-- Grain: list_id
SELECT
  ranked_lists.list_id,
  answers.retrieved, -- documents in order, with repeated ones
  CASE
    WHEN LIST_UNIQUE(
      LIST_TRANSFORM(
        LIST_SELECT(
          answers.retrieved,
          GENERATE_SERIES(1, CASE WHEN ARRAY_LENGTH(answers.retrieved) > $num_ranked THEN $num_ranked ELSE ARRAY_LENGTH(answers.retrieved) END)
        ),
        LAMBDA doc_id: HASH(doc_id)
      )
    ) = CASE WHEN ARRAY_LENGTH(answers.retrieved) > $num_ranked THEN $num_ranked ELSE ARRAY_LENGTH(answers.retrieved) END
      THEN ARRAY_LENGTH(answers.retrieved)
    ELSE ARRAY_LENGTH(LIST_DISTINCT(answers.retrieved))
  END AS num_documents -- distinct where the first repeat any
FROM answers
JOIN ranked_lists ON ranked_lists.group_id = answers.group_id AND ranked_lists.query_id = answers.query_id
