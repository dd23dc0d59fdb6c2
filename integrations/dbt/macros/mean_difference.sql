{# sqlrank 0.1.0: dbt package #}
{% macro mean_difference(queries, by=none, columns={}) %}
  {%- do sqlrank.check_columns(columns, ['query_id', 'queries.query_id', 'difference', 'queries.difference']) -%}
  {%- set groups = sqlrank.list_groups(by) -%}
  {{- adapter.dispatch('mean_difference', 'sqlrank')(queries, groups, columns) -}}
{% endmacro %}

{% macro default__mean_difference(queries, groups, columns) %}
  {{- sqlrank.refuse_adapter('mean_difference', ['duckdb', 'bigquery', 'postgres', 'redshift', 'snowflake', 'spark']) -}}
{% endmacro %}
