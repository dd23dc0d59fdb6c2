-- qrels: one row: rules for judgments; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(relevance) AS null_relevance, -- relevance is NULL, or no number. Leave the row out if the document was not judged, or give nulls='drop'
  SUM(CASE WHEN ISNAN(relevance) OR ISINF(relevance) THEN 1 ELSE 0 END) AS nan_relevance, -- relevance is NaN or infinite. Leave the row out if the document was not judged
  SUM(CASE WHEN NOT (ISNAN(relevance) OR ISINF(relevance)) AND (ABS(relevance) > 1e90 OR (ABS(relevance) > 0 AND ABS(relevance) < 1e-90)) THEN 1 ELSE 0 END) AS extreme_relevance, -- relevance is beyond 1e90, or within 1e-90 and not 0, whose quotients no double holds. Divide all judgments by one number
  SUM(CASE WHEN relevance > 0 THEN 1 ELSE 0 END) AS positive_relevance,
  MAX(relevance) AS top_grade
FROM qrels
