-- grade_notes: one row: the judgments, and those that a tool reads in another way, which the notes of its mode (compat/<mode>.toml) name.
-- Grain: one row
SELECT
  COUNT(*) AS judgments,
  SUM(CASE WHEN relevance <> FLOOR(relevance) THEN 1 ELSE 0 END) AS fractional_grades
FROM qrels
