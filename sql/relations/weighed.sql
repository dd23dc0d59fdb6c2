-- weighed: the documents of positive relevance with their worth, which the best possible order is sorted by.
SELECT
  list_id,
  relevance,
  rank,
  num_ret,
  docs,
  chance,
  docs * gain(relevance) AS worth
FROM valued
