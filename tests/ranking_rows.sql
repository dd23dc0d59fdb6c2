-- sqlrank 0.1.0: number of rows of run, qrels that break each rule, 0 of valid inputs
-- Hash of the generated lines: 22f243185dc58e61
SELECT *
FROM (
  SELECT
    'run' AS input,
    'query_id is NULL. Give the row one, or leave it out' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT "system", query_id, doc_id, score
    FROM {{ ref('runs') }}
  ) AS run
  WHERE query_id IS NULL
  UNION ALL
  SELECT
    'run' AS input, 'doc_id is NULL. Give the row one, or leave it out' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT "system", query_id, doc_id, score
    FROM {{ ref('runs') }}
  ) AS run
  WHERE doc_id IS NULL
  UNION ALL
  SELECT
    'run' AS input,
    'score is NULL, or a text that is no number. Give it a number, leave the row out, or give nulls=''drop''' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT "system", query_id, doc_id, score
    FROM {{ ref('runs') }}
  ) AS run
  WHERE score IS NULL
  UNION ALL
  SELECT
    'run' AS input,
    'score is NaN, which would be ranked first. Give it a value, or leave the row out' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT "system", query_id, doc_id, score
    FROM {{ ref('runs') }}
  ) AS run
  WHERE (NOT ISFINITE(score) AND NOT ISINF(score))
  UNION ALL
  SELECT
    'run' AS input, '(system, query_id, doc_id) occurs more than once' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT "system", query_id, doc_id
    FROM (
      SELECT "system", query_id, doc_id, score
      FROM {{ ref('runs') }}
    ) AS run
    GROUP BY "system", query_id, doc_id
    HAVING COUNT(*) > 1
  ) AS repeated
  UNION ALL
  SELECT
    'qrels' AS input, 'query_id is NULL. Give the row one, or leave it out' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT query_id, doc_id, relevance
    FROM {{ ref('truth') }}
  ) AS qrels
  WHERE query_id IS NULL
  UNION ALL
  SELECT
    'qrels' AS input, 'doc_id is NULL. Give the row one, or leave it out' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT query_id, doc_id, relevance
    FROM {{ ref('truth') }}
  ) AS qrels
  WHERE doc_id IS NULL
  UNION ALL
  SELECT
    'qrels' AS input,
    'relevance is NULL. Leave the row out if the document was not judged, or give nulls=''drop''' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT query_id, doc_id, relevance
    FROM {{ ref('truth') }}
  ) AS qrels
  WHERE relevance IS NULL
  UNION ALL
  SELECT
    'qrels' AS input,
    'relevance is NaN or infinite. Leave the row out if the document was not judged' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT query_id, doc_id, relevance
    FROM {{ ref('truth') }}
  ) AS qrels
  WHERE NOT ISFINITE(relevance)
  UNION ALL
  SELECT
    'qrels' AS input,
    'relevance is beyond 1e90, or within 1e-90 and not 0, whose quotients no double holds. Divide all judgments by one number' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT query_id, doc_id, relevance
    FROM {{ ref('truth') }}
  ) AS qrels
  WHERE
    NOT (NOT ISFINITE(relevance))
    AND (ABS(relevance) > 1e90 OR (ABS(relevance) > 0 AND ABS(relevance) < 1e-90))
  UNION ALL
  SELECT
    'qrels' AS input, '(query_id, doc_id) occurs more than once' AS problem,
    COUNT(*) AS num_rows
  FROM (
    SELECT query_id, doc_id
    FROM (
      SELECT query_id, doc_id, relevance
      FROM {{ ref('truth') }}
    ) AS qrels
    GROUP BY query_id, doc_id
    HAVING COUNT(*) > 1
  ) AS repeated
) AS audit
WHERE num_rows > 0
