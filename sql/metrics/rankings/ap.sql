-- AP: average precision, the mean of the precision at each relevant document, 0 if not retrieved; MAP is its mean over queries.
--     AP@k = (sum over relevant documents at rank i <= k of (hits up to i) / i) / relevant documents
-- Full name: average precision.
-- Use when: judgments are binary and users want many of the relevant documents, high up. For grades, prefer nDCG.
-- Reading: 1 has all relevant documents on top, and 0.5 is the value of a single relevant document at rank 2. Relevant documents that are not retrieved count 0.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- denominator(): default relevant: what the sum is divided by.
-- precision_at: default hits: ranks at which precision is averaged, those of hits or all_ranks up to k.
-- Range: 0 to 1, but not under precision_at=all_ranks.
-- Undefined: a query without relevant documents.
-- Source: trec_eval map, map_cut; Voorhees & Harman 2005.
SELECT
  list_id,
  COALESCE(
    SUM(CASE WHEN rank <= $k THEN cumulative_hits / rank ELSE 0 END)
      / NULLIF(denominator($k, SUM(doc_count), MAX(list_length), SUM(CASE WHEN rank <= $k THEN doc_count ELSE 0 END)), 0),
    0
  ) AS ap
FROM relevant_documents
GROUP BY list_id
