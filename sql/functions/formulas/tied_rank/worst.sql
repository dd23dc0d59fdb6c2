-- tied_rank: rank of a judged document in the worst order of its tie group: relevant documents last, those of relevance 0 or less first.
CREATE MACRO tied_rank(list_id, tie_first_rank, tie_last_rank, relevance, doc_id) AS CASE
  WHEN relevance > 0
    THEN tie_last_rank + 1 - ROW_NUMBER() OVER (PARTITION BY list_id, tie_first_rank ORDER BY relevance DESC, doc_id)
  ELSE tie_first_rank - 1 + ROW_NUMBER() OVER (PARTITION BY list_id, tie_first_rank ORDER BY relevance, doc_id DESC)
END
