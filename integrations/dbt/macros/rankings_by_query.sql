{# sqlrank 0.1.0: dbt package #}
{% macro rankings_by_query(run, qrels, k=10, by=none, columns={}) %}
  {%- do sqlrank.check_range('k', k, 'an integer from 1 to 2147483647', 1.0, 2147483647.0, true, false) -%}
  {%- do sqlrank.check_columns(columns, ['query_id', 'run.query_id', 'doc_id', 'run.doc_id', 'score', 'run.score', 'qrels.query_id', 'qrels.doc_id', 'relevance', 'qrels.relevance']) -%}
  {%- set groups = sqlrank.list_groups(by) -%}
  {{- adapter.dispatch('rankings_by_query', 'sqlrank')(run, qrels, k, groups, columns) -}}
{% endmacro %}

{% macro default__rankings_by_query(run, qrels, k, groups, columns) %}
  {{- sqlrank.refuse_adapter('rankings_by_query', ['duckdb', 'bigquery', 'postgres', 'redshift', 'snowflake', 'spark']) -}}
{% endmacro %}
