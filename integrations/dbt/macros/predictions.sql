{# sqlrank 0.1.0: dbt package #}
{% macro predictions(predictions, by=none, columns={}) %}
  {%- do sqlrank.check_columns(columns, ['label', 'predictions.label', 'score', 'predictions.score']) -%}
  {%- set groups = sqlrank.list_groups(by) -%}
  {{- adapter.dispatch('predictions', 'sqlrank')(predictions, groups, columns) -}}
{% endmacro %}

{% macro default__predictions(predictions, groups, columns) %}
  {{- sqlrank.refuse_adapter('predictions', ['duckdb', 'bigquery', 'postgres', 'redshift', 'snowflake', 'spark']) -}}
{% endmacro %}
