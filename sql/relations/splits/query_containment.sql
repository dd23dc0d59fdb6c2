-- query_containment: one row per list: the greatest share of the n-grams of its query that one document contains.
-- Grain: list_id
SELECT
  ranked_lists.list_id,
  CASE WHEN ngram_counts.num_ngrams IS NOT NULL THEN COALESCE(greatest_shares.contained_share, 0) END AS contained_share -- NULL without n-grams
FROM ranked_lists
LEFT JOIN (
  -- one row per list with an n-gram
  SELECT
    list_id,
    COUNT(*) AS num_ngrams
  FROM query_ngrams
  GROUP BY list_id
) AS ngram_counts ON ngram_counts.list_id = ranked_lists.list_id
LEFT JOIN (
  -- one row per list of which a document has an n-gram
  SELECT
    list_id,
    MAX(contained_share) AS contained_share
  FROM ngram_shares
  GROUP BY list_id
) AS greatest_shares ON greatest_shares.list_id = ranked_lists.list_id
