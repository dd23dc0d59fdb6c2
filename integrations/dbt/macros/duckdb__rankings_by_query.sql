{# sqlrank 0.1.0: dbt package #}
{% macro duckdb__rankings_by_query(run, qrels, k, groups, columns) %}
WITH sqlrank_run_source AS NOT MATERIALIZED (
  SELECT {{ sqlrank.source_columns('run', ['query_id', 'doc_id', 'score'], columns, groups) }}
  FROM {{ run }}
), sqlrank_qrels_source AS NOT MATERIALIZED (
  SELECT {{ sqlrank.source_columns('qrels', ['query_id', 'doc_id', 'relevance'], columns, []) }}
  FROM {{ qrels }}
), sqlrank_qrels AS NOT MATERIALIZED (
  -- One row per query and judged document.
  SELECT query_id, doc_id, CAST(relevance AS DOUBLE) AS relevance
  FROM sqlrank_qrels_source
), sqlrank_run AS NOT MATERIALIZED (
  -- One row per sqlrank_group, query and retrieved document.
  SELECT {{ sqlrank.group_columns(groups, '') }}, query_id, doc_id, CAST(score AS DOUBLE) AS score
  FROM sqlrank_run_source
), sqlrank_query_ids AS (
  -- One row per query.
  SELECT query_id FROM sqlrank_qrels GROUP BY query_id
), sqlrank_systems AS (
  -- One row per sqlrank_group.
  SELECT {{ sqlrank.group_columns(groups, '') }}
  FROM sqlrank_run
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_ranked_lists AS (
  -- One row per sqlrank_group and query to evaluate, even if empty. (ranked_lists/integer_key.sql)
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_systems.') }},
    sqlrank_query_ids.query_id,
    CAST(ROW_NUMBER() OVER (
      ORDER BY {{ sqlrank.group_columns(groups, 'sqlrank_systems.') }}, sqlrank_query_ids.query_id
    ) AS INT) AS list_id  -- number of the list in this statement
  FROM sqlrank_query_ids
  CROSS JOIN sqlrank_systems
), sqlrank_retrieved_documents AS (
  -- One row per sqlrank_group, query and retrieved document, judged or not.
  -- (retrieved_documents/all.sql)
  SELECT sqlrank_ranked_lists.list_id, sqlrank_run.doc_id, sqlrank_run.score
  FROM sqlrank_run
  INNER JOIN sqlrank_ranked_lists
    ON {% for _ in groups %}(sqlrank_ranked_lists.sqlrank_group_{{ loop.index }} IS NOT DISTINCT FROM sqlrank_run.sqlrank_group_{{ loop.index }}){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_ranked_lists.query_id = sqlrank_run.query_id
), sqlrank_ranked_documents AS (
  -- One row per sqlrank_group, query and retrieved document, ranked by score, ties by doc_id,
  -- greatest first. (ranked_documents/doc_desc.sql)
  SELECT
    list_id, doc_id,
    -- position in the list, from 1
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length  -- documents in the list, at most the depth
  FROM sqlrank_retrieved_documents
), sqlrank_judged_documents AS (
  -- One row per sqlrank_group, query and judged document, retrieved or not.
  -- (judged_documents/by_join.sql)
  SELECT
    sqlrank_ranked_lists.list_id,
    sqlrank_qrels.relevance,  -- grade; negative if selected for judging, but never judged
    sqlrank_ranked_documents.rank,  -- NULL if not retrieved
    sqlrank_ranked_documents.list_length  -- documents in the list; NULL if not retrieved
  FROM sqlrank_qrels
  INNER JOIN sqlrank_ranked_lists ON sqlrank_ranked_lists.query_id = sqlrank_qrels.query_id
  LEFT JOIN sqlrank_ranked_documents
    ON sqlrank_ranked_documents.list_id = sqlrank_ranked_lists.list_id
    AND sqlrank_ranked_documents.doc_id = sqlrank_qrels.doc_id
), sqlrank_ideal_ranking AS (
  -- One row per sqlrank_group, query and judged document of positive relevance.
  -- (ideal_ranking/judged.sql)
  SELECT
    list_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY relevance DESC) AS ideal_rank
  FROM sqlrank_judged_documents
  WHERE relevance > 0
), sqlrank_relevant_documents AS (
  -- One row per sqlrank_group, query and relevant document. (relevant_documents/at_hits.sql)
  SELECT
    list_id, rank,
    1 / rank AS reciprocal_rank,
    ROW_NUMBER() OVER (
      PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits  -- relevant documents at this rank or above
  FROM sqlrank_judged_documents
  WHERE relevance >= 1
), sqlrank_judged_retrieved_documents AS (
  -- One row per sqlrank_group, query and rank of a document of grade 0 or more, and one without a
  -- rank per sqlrank_group and query not empty. (judged_retrieved_documents/nonnegative_grades.sql)
  SELECT
    list_id,
    CAST(NULL AS BIGINT) AS rank,  -- position in the list; NULL in the row of the list
    COUNT(*) AS list_length  -- documents in the list
  FROM sqlrank_retrieved_documents
  GROUP BY list_id
  UNION ALL
  SELECT list_id, rank, list_length
  FROM sqlrank_judged_documents
  WHERE rank IS NOT NULL AND relevance >= 0
), sqlrank_discounted_gains_metrics AS (
  -- One row per sqlrank_group and query with a judged document of positive relevance.
  SELECT
    list_id,
    -- nDCG: discounted gain of the documents at ranks 1 to k over that of the ideal ranking.
    SUM(CASE WHEN rank <= {{ k }} THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(
        CASE WHEN ideal_rank <= {{ k }} THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END
      ),
      0
    ) AS ndcg_at_k
  FROM sqlrank_ideal_ranking
  GROUP BY list_id
), sqlrank_relevant_documents_metrics AS (
  -- One row per sqlrank_group and query with a relevant document.
  SELECT
    list_id,
    -- AP: average precision, the mean of the precision at each relevant document, 0 if not
    -- retrieved; MAP is its mean over queries.
    SUM(CASE WHEN rank IS NOT NULL THEN cumulative_hits / rank ELSE 0 END) / COUNT(*) AS ap,
    -- RR: reciprocal rank of the first relevant document, whose mean over queries is MRR.
    MAX(CASE WHEN rank IS NOT NULL THEN reciprocal_rank ELSE 0 END) AS rr,
    -- P: precision, the share of the documents at ranks 1 to k that are relevant.
    COALESCE(SUM(CASE WHEN rank <= {{ k }} THEN 1e0 ELSE 0 END) / NULLIF({{ k }}, 0), 0) AS p_at_k,
    -- R: recall, the share of the relevant documents that are among the first k.
    SUM(CASE WHEN rank <= {{ k }} THEN 1e0 ELSE 0 END) / COUNT(*) AS r_at_k,
    -- Success: 1 if a relevant document is among the first k, else 0; also called hit rate.
    MAX(CASE WHEN rank <= {{ k }} THEN 1 ELSE 0 END) AS success_at_k
  FROM sqlrank_relevant_documents
  GROUP BY list_id
), sqlrank_judged_retrieved_documents_metrics AS (
  -- One row per sqlrank_group and query.
  SELECT
    list_id,
    -- Judged: share of the first k documents that have a judgment.
    SUM(CASE WHEN rank <= {{ k }} THEN 1 ELSE 0 END) / NULLIF(
      CASE WHEN MAX(list_length) < {{ k }} THEN MAX(list_length) ELSE {{ k }} END, 0
    ) AS judged_at_k
  FROM sqlrank_judged_retrieved_documents
  GROUP BY list_id
)
SELECT
  {{ sqlrank.group_keys(groups, 'sqlrank_ranked_lists.') }}sqlrank_ranked_lists.query_id AS query_id,
  COALESCE(sqlrank_discounted_gains_metrics.ndcg_at_k, 0) AS ndcg_at_k,
  COALESCE(sqlrank_relevant_documents_metrics.ap, 0) AS ap,
  COALESCE(sqlrank_relevant_documents_metrics.rr, 0) AS rr,
  COALESCE(sqlrank_relevant_documents_metrics.p_at_k, 0) AS p_at_k,
  COALESCE(sqlrank_relevant_documents_metrics.r_at_k, 0) AS r_at_k,
  CAST(COALESCE(sqlrank_relevant_documents_metrics.success_at_k, 0) AS DOUBLE) AS success_at_k,
  COALESCE(sqlrank_judged_retrieved_documents_metrics.judged_at_k, 0) AS judged_at_k
FROM sqlrank_ranked_lists
LEFT JOIN sqlrank_discounted_gains_metrics
  ON sqlrank_discounted_gains_metrics.list_id = sqlrank_ranked_lists.list_id
LEFT JOIN sqlrank_relevant_documents_metrics
  ON sqlrank_relevant_documents_metrics.list_id = sqlrank_ranked_lists.list_id
LEFT JOIN sqlrank_judged_retrieved_documents_metrics
  ON sqlrank_judged_retrieved_documents_metrics.list_id = sqlrank_ranked_lists.list_id
{% endmacro %}
