-- mean_distance: 1 less the mean similarity of two documents of a list, from its sum over ordered pairs; NULL of one document.
CREATE MACRO mean_distance(similarity_sum, list_length) AS
  CASE WHEN list_length > 1 THEN 1 - COALESCE(similarity_sum, 0) / NULLIF(list_length * (list_length - 1), 0) END
