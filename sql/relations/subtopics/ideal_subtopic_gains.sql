-- ideal_subtopic_gains: one row per list and rank of its greedy ideal list: the gain of the document at that rank.
-- At each rank stands the relevant document that gains most after those above, of equal ones that of the greatest doc_id, as in ndeval. The
-- best of all lists is not computed, which takes a time exponential in the number of documents.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Engines: duckdb
-- Grain: list_id, ideal_rank
SELECT
  ideal_lists.list_id,
  ideal_gains.ideal_rank, -- position in the ideal list, from 1
  ideal_gains.ideal_gain -- 1 for each subtopic, less for those of documents above
FROM (
  -- one row per list with a relevant document
  SELECT
    list_id,
    greedy_gains(documents, num_subtopics, CASE WHEN num_documents > $k THEN $k ELSE num_documents END) AS gains
  FROM (
    -- one row per list with a relevant document
    SELECT
      list_id,
      ARRAY_AGG(subtopic_numbers ORDER BY doc_id DESC) AS documents, -- the subtopics of each
      COUNT(*) AS num_documents,
      MAX(last_number) AS num_subtopics
    FROM (
      -- one row per list and relevant document
      SELECT
        list_id, doc_id,
        ARRAY_AGG(subtopic_number ORDER BY subtopic_number) AS subtopic_numbers,
        MAX(subtopic_number) AS last_number
      FROM (
        -- one row per list, subtopic and relevant document
        SELECT
          list_id, doc_id,
          DENSE_RANK() OVER (PARTITION BY list_id ORDER BY subtopic) AS subtopic_number
        FROM subtopic_judgments
      ) AS numbered_subtopics
      GROUP BY list_id, doc_id
    ) AS subtopic_documents
    GROUP BY list_id
  ) AS document_lists
) AS ideal_lists
CROSS JOIN UNNEST(ideal_lists.gains) WITH ORDINALITY AS ideal_gains(ideal_gain, ideal_rank)
