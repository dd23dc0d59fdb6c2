-- What a row of predictions must be, rule by rule: the opposite of what checks/predictions.sql counts. NULL is never true.
SELECT
  NOT (ISNAN(label) OR ISINF(label)) AS label,
  NOT ISNAN(score) AS score,
  weight >= 0 AND NOT (ISNAN(weight) OR ISINF(weight)) AS weight,
  query_id IS NOT NULL AS query_id,
  doc_id IS NOT NULL AS doc_id,
  rank IS NOT NULL AS rank,
  label IN (0, 1) AS nonbinary_label,
  label >= 0 AS negative_label,
  score >= 0 AND score <= 1 AS improbable_score,
  score > 0 AS nonpositive_score,
  NOT (ISNAN(score) OR ISINF(score)) AS infinite_score
FROM predictions
