-- What a row of predictions must be, rule by rule: the opposite of what checks/predictions.sql counts, in the form that
-- DuckDB decides from the extremes of a column where it can. NaN is greater than infinity, and NULL is never true.
SELECT
  label > '-inf'::DOUBLE AND label < 'inf'::DOUBLE AS label,
  score <= 'inf'::DOUBLE AS score,
  weight >= 0 AND weight < 'inf'::DOUBLE AS weight,
  query_id IS NOT NULL AS query_id,
  doc_id IS NOT NULL AS doc_id,
  rank IS NOT NULL AS rank,
  label IN (0, 1) AS nonbinary_label,
  label >= 0 AS negative_label,
  score >= 0 AND score <= 1 AS improbable_score,
  score > 0 AS nonpositive_score,
  score > '-inf'::DOUBLE AND score < 'inf'::DOUBLE AS infinite_score
FROM predictions
