{# sqlrank 0.1.0: dbt package #}
{% macro redshift__rankings(run, qrels, k, groups, columns) %}
WITH sqlrank_run_source AS (
  SELECT {{ sqlrank.source_columns('run', ['query_id', 'doc_id', 'score'], columns, groups) }}
  FROM {{ run }}
), sqlrank_qrels_source AS (
  SELECT {{ sqlrank.source_columns('qrels', ['query_id', 'doc_id', 'relevance'], columns, []) }}
  FROM {{ qrels }}
), sqlrank_qrels AS (
  -- One row per query and judged document.
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE PRECISION) AS relevance
  FROM sqlrank_qrels_source
), sqlrank_run AS (
  -- One row per sqlrank_group, query and retrieved document.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id, doc_id,
    CAST(score AS DOUBLE PRECISION) AS score
  FROM sqlrank_run_source
), sqlrank_query_ids AS (
  -- One row per query.
  SELECT query_id FROM sqlrank_qrels GROUP BY query_id
), sqlrank_systems AS (
  -- One row per sqlrank_group.
  SELECT {{ sqlrank.group_columns(groups, '') }}
  FROM sqlrank_run
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_evaluated_queries AS (
  -- One row per sqlrank_group and query with judgments, even if nothing was retrieved.
  -- (evaluated_queries/judged.sql)
  SELECT {{ sqlrank.group_columns(groups, 'sqlrank_systems.') }}, sqlrank_query_ids.query_id
  FROM sqlrank_query_ids
  CROSS JOIN sqlrank_systems
), sqlrank_retrieved_documents AS (
  -- One row per sqlrank_group, query and retrieved document, judged or not.
  -- (retrieved_documents/all.sql)
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_evaluated_queries.') }},
    sqlrank_evaluated_queries.query_id, sqlrank_run.doc_id, sqlrank_run.score
  FROM sqlrank_run
  INNER JOIN sqlrank_evaluated_queries
    ON {% for _ in groups %}(sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} = sqlrank_run.sqlrank_group_{{ loop.index }} OR (sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_run.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_evaluated_queries.query_id = sqlrank_run.query_id
), sqlrank_ranked_documents AS (
  -- One row per sqlrank_group, query and retrieved document, ranked by score, ties by doc_id,
  -- greatest first. (ranked_documents/doc_desc.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id, doc_id,
    ROW_NUMBER() OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, '') }}, query_id
      ORDER BY score DESC, doc_id DESC
    ) AS rank,  -- position in the list, from 1
    -- documents in the list, at most the depth
    COUNT(*) OVER (PARTITION BY {{ sqlrank.group_columns(groups, '') }}, query_id) AS list_length
  FROM sqlrank_retrieved_documents
), sqlrank_judged_documents AS (
  -- One row per sqlrank_group, query and judged document, retrieved or not.
  -- (judged_documents/by_join.sql)
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_evaluated_queries.') }},
    sqlrank_evaluated_queries.query_id,
    sqlrank_qrels.relevance,  -- grade; negative if selected for judging, but never judged
    sqlrank_ranked_documents.rank,  -- NULL if not retrieved
    sqlrank_ranked_documents.list_length  -- documents in the list; NULL if not retrieved
  FROM sqlrank_qrels
  INNER JOIN sqlrank_evaluated_queries
    ON sqlrank_evaluated_queries.query_id = sqlrank_qrels.query_id
  LEFT JOIN sqlrank_ranked_documents
    ON {% for _ in groups %}(sqlrank_ranked_documents.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_ranked_documents.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_ranked_documents.query_id = sqlrank_evaluated_queries.query_id
    AND sqlrank_ranked_documents.doc_id = sqlrank_qrels.doc_id
), sqlrank_ideal_ranking AS (
  -- One row per sqlrank_group, query and judged document of positive relevance.
  -- (ideal_ranking/judged.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id, relevance, rank,
    ROW_NUMBER() OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, '') }}, query_id ORDER BY relevance DESC
    ) AS ideal_rank
  FROM sqlrank_judged_documents
  WHERE relevance > 0
), sqlrank_relevant_documents AS (
  -- One row per sqlrank_group, query and relevant document. (relevant_documents/at_hits.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id, rank,
    CAST(1 AS DOUBLE PRECISION) / rank AS reciprocal_rank,
    ROW_NUMBER() OVER (
      PARTITION BY {{ sqlrank.group_columns(groups, '') }}, query_id
      ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits  -- relevant documents at this rank or above
  FROM sqlrank_judged_documents
  WHERE relevance >= 1
), sqlrank_judged_retrieved_documents AS (
  -- One row per sqlrank_group, query and rank of a document of grade 0 or more, and one without a
  -- rank per sqlrank_group and query not empty. (judged_retrieved_documents/nonnegative_grades.sql)
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id,
    CAST(NULL AS BIGINT) AS rank,  -- position in the list; NULL in the row of the list
    COUNT(*) AS list_length  -- documents in the list
  FROM sqlrank_retrieved_documents
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, query_id
  UNION ALL
  SELECT {{ sqlrank.group_columns(groups, '') }}, query_id, rank, list_length
  FROM sqlrank_judged_documents
  WHERE rank IS NOT NULL AND relevance >= 0
), sqlrank_discounted_gains_metrics AS (
  -- One row per sqlrank_group and query with a judged document of positive relevance.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id,
    -- nDCG: discounted gain of the documents at ranks 1 to k over that of the ideal ranking.
    SUM(CASE
      WHEN rank <= {{ k }}
      THEN relevance * (LN(CAST(2 AS DOUBLE PRECISION)) / LN(CAST(rank + 1 AS DOUBLE PRECISION)))
      ELSE 0
    END)
    / NULLIF(
      SUM(CASE
        WHEN ideal_rank <= {{ k }}
        THEN relevance
        * (LN(CAST(2 AS DOUBLE PRECISION)) / LN(CAST(ideal_rank + 1 AS DOUBLE PRECISION)))
        ELSE 0
      END),
      0
    ) AS ndcg_at_k
  FROM sqlrank_ideal_ranking
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, query_id
), sqlrank_relevant_documents_metrics AS (
  -- One row per sqlrank_group and query with a relevant document.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id,
    -- AP: average precision, the mean of the precision at each relevant document, 0 if not
    -- retrieved; MAP is its mean over queries.
    SUM(
      CASE WHEN rank IS NOT NULL THEN CAST(cumulative_hits AS DOUBLE PRECISION) / rank ELSE 0 END
    ) / CAST(COUNT(*) AS DOUBLE PRECISION) AS ap,
    -- RR: reciprocal rank of the first relevant document, whose mean over queries is MRR.
    MAX(CASE WHEN rank IS NOT NULL THEN reciprocal_rank ELSE 0 END) AS rr,
    -- P: precision, the share of the documents at ranks 1 to k that are relevant.
    COALESCE(
      SUM(CASE WHEN rank <= {{ k }} THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END)
      / NULLIF({{ k }}, 0),
      0
    ) AS p_at_k,
    -- R: recall, the share of the relevant documents that are among the first k.
    SUM(CASE WHEN rank <= {{ k }} THEN CAST(1.0 AS DOUBLE PRECISION) ELSE 0 END)
    / CAST(COUNT(*) AS DOUBLE PRECISION) AS r_at_k,
    -- Success: 1 if a relevant document is among the first k, else 0; also called hit rate.
    MAX(CASE WHEN rank <= {{ k }} THEN 1 ELSE 0 END) AS success_at_k
  FROM sqlrank_relevant_documents
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, query_id
), sqlrank_judged_retrieved_documents_metrics AS (
  -- One row per sqlrank_group and query.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id,
    -- Judged: share of the first k documents that have a judgment.
    CAST(SUM(CASE WHEN rank <= {{ k }} THEN 1 ELSE 0 END) AS DOUBLE PRECISION) / NULLIF(
      CASE WHEN MAX(list_length) < {{ k }} THEN MAX(list_length) ELSE {{ k }} END, 0
    ) AS judged_at_k
  FROM sqlrank_judged_retrieved_documents
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, query_id
), sqlrank_ranked_lists_metrics AS (
  -- One row per sqlrank_group and query.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id,
    -- num_q: number of queries evaluated.
    MAX(1) AS num_q
  FROM sqlrank_evaluated_queries
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, query_id
), sqlrank_query_metrics AS (
  -- One row per sqlrank_group and query to evaluate.
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_evaluated_queries.') }},
    COALESCE(sqlrank_discounted_gains_metrics.ndcg_at_k, 0) AS ndcg_at_k,
    COALESCE(sqlrank_relevant_documents_metrics.ap, 0) AS ap,
    COALESCE(sqlrank_relevant_documents_metrics.rr, 0) AS rr,
    COALESCE(sqlrank_relevant_documents_metrics.p_at_k, 0) AS p_at_k,
    COALESCE(sqlrank_relevant_documents_metrics.r_at_k, 0) AS r_at_k,
    COALESCE(sqlrank_relevant_documents_metrics.success_at_k, 0) AS success_at_k,
    COALESCE(sqlrank_judged_retrieved_documents_metrics.judged_at_k, 0) AS judged_at_k,
    COALESCE(sqlrank_ranked_lists_metrics.num_q, 0) AS num_q
  FROM sqlrank_evaluated_queries
  LEFT JOIN sqlrank_discounted_gains_metrics
    ON {% for _ in groups %}(sqlrank_discounted_gains_metrics.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_discounted_gains_metrics.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_discounted_gains_metrics.query_id = sqlrank_evaluated_queries.query_id
  LEFT JOIN sqlrank_relevant_documents_metrics
    ON {% for _ in groups %}(sqlrank_relevant_documents_metrics.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_relevant_documents_metrics.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_relevant_documents_metrics.query_id = sqlrank_evaluated_queries.query_id
  LEFT JOIN sqlrank_judged_retrieved_documents_metrics
    ON {% for _ in groups %}(sqlrank_judged_retrieved_documents_metrics.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_judged_retrieved_documents_metrics.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_judged_retrieved_documents_metrics.query_id = sqlrank_evaluated_queries.query_id
  LEFT JOIN sqlrank_ranked_lists_metrics
    ON {% for _ in groups %}(sqlrank_ranked_lists_metrics.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_ranked_lists_metrics.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_ranked_lists_metrics.query_id = sqlrank_evaluated_queries.query_id
)
SELECT
  {{ sqlrank.group_keys(groups, '') }}AVG(ndcg_at_k) AS ndcg_at_k,
  AVG(ap) AS ap,
  AVG(rr) AS rr,
  AVG(p_at_k) AS p_at_k,
  AVG(r_at_k) AS r_at_k,
  AVG(CAST(success_at_k AS DOUBLE PRECISION)) AS success_at_k,
  AVG(judged_at_k) AS judged_at_k,
  CAST(SUM(num_q) AS DOUBLE PRECISION) AS num_q
FROM sqlrank_query_metrics
GROUP BY {{ sqlrank.group_columns(groups, '') }}
{% endmacro %}
