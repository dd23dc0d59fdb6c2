-- greedy_gains: gains at ranks 1, 2, ... of an ideal list that has at each rank the document that gains most after those above.
-- documents has the numbers of the subtopics of each document; of documents of equal gain, the first is taken. The state of the search is
-- three lists: the gain left of each subtopic, the positions of the documents taken so far, after 0, and their gains, after 0.
-- $alpha: number from 0 to 1, default 0.5: by how much a document of a subtopic reduces the gain of the next one.
-- Engines: duckdb
CREATE MACRO greedy_gains(documents, num_subtopics, num_ranks) AS LIST_REDUCE(
  LIST_TRANSFORM(
    GENERATE_SERIES(0, CAST(num_ranks AS BIGINT)),
    LAMBDA step : [
      LIST_TRANSFORM(GENERATE_SERIES(1, num_subtopics), LAMBDA subtopic_number : CAST(1 AS DOUBLE)),
      [CAST(0 AS DOUBLE)],
      [CAST(0 AS DOUBLE)]
    ]
  ),
  LAMBDA state, step : LIST_TRANSFORM(
    [
      LIST_TRANSFORM(
        documents,
        LAMBDA document, document_position : CASE
          WHEN ARRAY_CONTAINS(state[2], document_position) THEN -1
          ELSE LIST_SUM(LIST_TRANSFORM(document, LAMBDA subtopic_number : state[1][subtopic_number]))
        END
      )
    ],
    LAMBDA document_gains : [
      LIST_TRANSFORM(
        state[1],
        LAMBDA gain_left, subtopic_number : CASE
          WHEN ARRAY_CONTAINS(documents[ARRAY_POSITION(document_gains, LIST_MAX(document_gains))], subtopic_number)
            THEN gain_left * (1 - $alpha)
          ELSE gain_left
        END
      ),
      LIST_APPEND(state[2], ARRAY_POSITION(document_gains, LIST_MAX(document_gains))),
      LIST_APPEND(state[3], LIST_MAX(document_gains))
    ]
  )[1]
)[3][2:num_ranks + 1]
