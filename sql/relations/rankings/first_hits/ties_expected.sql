-- first_hits: one row per list and relevant document, and one per rank that its first relevant document may have: probability and reciprocal rank.
-- Rows of the first kind have no rank: they say that the list has relevant documents. Rows of the second kind are about all orders of the
-- first tie group with a relevant document. In each order its first hit is at one rank. Both numbers grow with the rank: at rank k they are those
-- of the first k documents. A group of n documents, r of them relevant, has no hit before its j-th with probability C(n - j + 1, r) / C(n, r).
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Tie expectation: linear (in the probability of the first hit at a rank)
-- Nonzero: tie_size - position + 1.
-- Grain: many per list_id
SELECT
  list_id,
  CAST(NULL AS BIGINT) AS rank, -- a rank of the first hit; NULL in rows of relevant documents
  CAST(NULL AS DOUBLE) AS hit_probability, -- probability that the first hit has this rank or a higher one
  CAST(NULL AS DOUBLE) AS reciprocal_rank -- expected reciprocal rank, 0 for a lower first hit
FROM judgments
WHERE relevance >= $rel
UNION ALL
SELECT
  list_id, rank,
  CASE
    -- a sum of rounded probabilities is 1 where no order has a later hit, and never above it
    WHEN is_last OR SUM(probability) OVER (PARTITION BY list_id ORDER BY rank) > 1 THEN 1
    ELSE SUM(probability) OVER (PARTITION BY list_id ORDER BY rank)
  END AS hit_probability,
  SUM(probability / rank) OVER (PARTITION BY list_id ORDER BY rank) AS reciprocal_rank
FROM (
  -- one row per list and rank that the first relevant document may have
  SELECT
    list_id, rank,
    position > tie_size - num_hits AS is_last,
    num_hits / (tie_size - position + 1) * COALESCE(
      EXP(
        SUM(LN(NULLIF(tie_size - num_hits - position + 1, 0) / (tie_size - position + 1))) OVER (
          PARTITION BY list_id ORDER BY rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
      ),
      1
    ) AS probability
  FROM (
    -- one row per list and rank of the first tie group with a relevant document
    SELECT
      first_groups.list_id, first_groups.num_hits, ranked_documents.rank,
      ranked_documents.rank - ranked_documents.tie_first_rank + 1 AS position,
      ranked_documents.tie_last_rank - ranked_documents.tie_first_rank + 1 AS tie_size
    FROM (
      -- one row per list and tie group with relevant documents
      SELECT
        judgments.list_id, ranked_documents.tie_first_rank,
        COUNT(*) AS num_hits,
        ROW_NUMBER() OVER (PARTITION BY judgments.list_id ORDER BY ranked_documents.tie_first_rank) AS group_number
      FROM judgments
      JOIN ranked_documents
        ON ranked_documents.list_id = judgments.list_id AND ranked_documents.doc_id = judgments.doc_id
      WHERE judgments.relevance >= $rel
      GROUP BY judgments.list_id, ranked_documents.tie_first_rank
    ) AS first_groups
    JOIN ranked_documents
      ON ranked_documents.list_id = first_groups.list_id
      AND ranked_documents.tie_first_rank = first_groups.tie_first_rank
    WHERE first_groups.group_number = 1
      AND ranked_documents.rank <= $depth
      AND ranked_documents.rank <= ranked_documents.tie_last_rank - first_groups.num_hits + 1
  ) AS group_ranks
) AS first_ranks
