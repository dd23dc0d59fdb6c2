-- list_category_counts: one row per list and category of its first k documents: documents, sums of shares and values, and list length.
-- Shares and values are those of the category among the categories of a document, and summed with their squares.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id, category
SELECT
  list_id, category,
  num_documents, -- documents of the category
  share_sum, -- sum of the category's shares of documents
  share_square_sum, -- sum of their squares
  normalized_sum, -- sum of the category's normalized values
  normalized_square_sum, -- sum of their squares
  share_sum / NULLIF(SUM(share_sum) OVER (PARTITION BY list_id), 0) AS category_share, -- share of the category in the list, of 1
  list_length -- documents in the list, at most k
FROM (
  -- one row per list and category of its first k documents
  SELECT
    ranked_documents.list_id, item_categories.category,
    COUNT(*) AS num_documents,
    SUM(item_categories.category_share) AS share_sum,
    SUM(item_categories.category_share * item_categories.category_share) AS share_square_sum,
    SUM(item_categories.normalized_value) AS normalized_sum,
    SUM(item_categories.normalized_value * item_categories.normalized_value) AS normalized_square_sum,
    MAX(CASE WHEN ranked_documents.list_length > $k THEN $k ELSE ranked_documents.list_length END) AS list_length
  FROM ranked_documents
  JOIN ranked_lists ON ranked_lists.list_id = ranked_documents.list_id
  JOIN item_categories
    ON item_categories.group_id = ranked_lists.group_id AND item_categories.doc_id = ranked_documents.doc_id
  WHERE ranked_documents.rank <= $k
  GROUP BY ranked_documents.list_id, item_categories.category
) AS list_category_sums
