-- tied_rank: rank of a judged document in the best order of its tie group: relevant documents first, those of relevance 0 or less last.
CREATE MACRO tied_rank(list_id, tie_first_rank, tie_last_rank, relevance, doc_id) AS CASE
  WHEN relevance > 0
    THEN tie_first_rank - 1 + ROW_NUMBER() OVER (PARTITION BY list_id, tie_first_rank ORDER BY relevance DESC, doc_id DESC)
  ELSE tie_last_rank + 1 - ROW_NUMBER() OVER (PARTITION BY list_id, tie_first_rank ORDER BY relevance, doc_id)
END
