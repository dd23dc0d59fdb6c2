-- relevant_ranks: the ranks up to k of the relevant documents among the retrieved ones, ascending.
-- A repeated document counts once, at its first position, and the documents after it move up.
CREATE MACRO relevant_ranks(retrieved, relevant, k) AS LIST_SORT(
  LIST_FILTER(
    LIST_TRANSFORM(
      LIST_DISTINCT(relevant),
      LAMBDA doc_id : LEN(LIST_DISTINCT(LIST_SLICE(retrieved, 1, LIST_POSITION(retrieved, doc_id))))
    ),
    LAMBDA rank : rank >= 1 AND rank <= k
  )
)
