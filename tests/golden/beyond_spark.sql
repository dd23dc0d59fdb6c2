-- sqlrank 0.1.0: CatalogCoverage@10, Personalization@10
-- plan: lists=plain
-- for another: there is none for these metrics
WITH run AS (
  /* run: what was retrieved: a row per document of a query */
  SELECT
    query_id, doc_id,
    CAST(score AS DOUBLE) AS score
  FROM shop.eval.shown
), topics AS (
  /* RAND makes Spark compute this once for all that read it: it repeats what is deterministic */
  SELECT /*+ REPARTITION(query_id) */
    ELEMENT_AT(ARRAY(query_id), 1) AS query_id
  FROM (
    /* relations/topics/run.sql: one row per query to evaluate: every query with an answer, judged or not. */
    SELECT
      query_id
    FROM run
    GROUP BY query_id
  ) AS once
  WHERE RAND() >= 0
), retrieved AS (
  /* relations/retrieved/nonrelevant.sql: one row per retrieved document; documents without a judgment
   keep their place. */
  SELECT
    l.query_id, r.doc_id, r.score
  FROM run AS r
  JOIN topics AS l ON l.query_id = r.query_id
), ranked AS (
  /* relations/ranked/doc_desc.sql: one row per retrieved document with its rank; equal scores by doc_id,
   greatest first, as trec_eval. */
  SELECT
    query_id, doc_id, rank,
    retrieved_docs AS num_ret
  FROM (
    SELECT
      query_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS rank,
      COUNT(*) OVER (PARTITION BY query_id) AS retrieved_docs
    FROM retrieved
  ) AS numbered
), displayed AS (
  /* relations/displayed.sql: one row per group and document that stands among the first k of any of its
   lists: how many lists show it (shows), the sums over these of 1 / sqrt(length) (roots) and of its
   square (squares), and in how many it is the first (first_places). */
  SELECT
    r.doc_id,
    SUM(r.root) AS roots,
    SUM(r.root * r.root) AS squares,
    SUM(CASE WHEN r.rank = 1 THEN 1 ELSE 0 END) AS first_places
  FROM (
    SELECT
      query_id, doc_id, rank,
      1 / SQRT(CAST(CASE WHEN num_ret > 10 THEN 10 ELSE num_ret END AS DOUBLE)) AS root
    FROM ranked
    WHERE rank <= 10
  ) AS r
  JOIN topics AS m ON m.query_id = r.query_id
  GROUP BY r.doc_id
), items AS (
  /* items: the catalogue: a row per item that could be shown */
  SELECT
    doc_id
  FROM shop.eval.items
), catalogue AS (
  /* relations/catalogue.sql: one row per group and item that it could show. */
  SELECT
    doc_id
  FROM items AS offers
  GROUP BY doc_id
), exposures AS (
  /* relations/exposures.sql: one row per group and document shown: whether the catalogue has it, and how
   many items that has. */
  SELECT
    CASE WHEN c.doc_id IS NULL THEN 0 ELSE 1 END AS is_listed,
    n.catalogue_docs
  FROM displayed AS d
  LEFT JOIN catalogue AS c ON c.doc_id = d.doc_id
  LEFT JOIN (
    SELECT
      COUNT(*) AS catalogue_docs
    FROM catalogue
  ) AS n
    ON TRUE
), by_exposures AS (
  /* one row per group */
  SELECT
    /* CatalogCoverage: share of the catalogue that stands among the first k of any list. */
    SUM(is_listed) / NULLIF(MAX(catalogue_docs), 0) AS catalogcoverage_at_10
  FROM exposures
), by_displayed AS (
  /* one row per group */
  SELECT
    /* Personalization: how different the lists are: one less the cosine of the first k of two lists, on the mean over pairs. */
    1 - SUM(roots * roots - squares) / NULLIF(SUM(first_places) * (SUM(first_places) - 1), 0) AS personalization_at_10
  FROM displayed
)
SELECT
  by_exposures.catalogcoverage_at_10 AS catalogcoverage_at_10,
  by_displayed.personalization_at_10 AS personalization_at_10
FROM by_exposures
CROSS JOIN by_displayed;
