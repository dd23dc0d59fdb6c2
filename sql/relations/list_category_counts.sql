-- list_category_counts: one row per ranked list and category of its first k documents, with the sums from which distances are computed.
-- The sums are over documents of the category: their number, the shares and normalized values of the category, and the squares of
-- both. The share of the category is that of all shares of the list.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id, category
SELECT
  list_id,
  category,
  num_documents,
  share_sum,
  share_square_sum,
  normalized_sum,
  normalized_square_sum,
  share_sum / NULLIF(SUM(share_sum) OVER (PARTITION BY list_id), 0) AS category_share,
  list_length
FROM (
  SELECT
    r.list_id,
    f.category,
    COUNT(*) AS num_documents,
    SUM(f.category_share) AS share_sum,
    SUM(f.category_share * f.category_share) AS share_square_sum,
    SUM(f.normalized_value) AS normalized_sum,
    SUM(f.normalized_value * f.normalized_value) AS normalized_square_sum,
    MAX(CASE WHEN r.list_length > $k THEN $k ELSE r.list_length END) AS list_length
  FROM ranked_documents AS r
  JOIN ranked_lists AS l ON l.list_id = r.list_id
  JOIN item_categories AS f ON f.group_id = l.group_id AND f.doc_id = r.doc_id
  WHERE r.rank <= $k
  GROUP BY r.list_id, f.category
) AS counted
