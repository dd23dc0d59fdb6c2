{# sqlrank 0.1.0: dbt package #}
{% macro clusters(predicted_clusters, true_clusters, by=none, columns={}) %}
  {%- do sqlrank.check_columns(columns, ['record_id', 'predicted_clusters.record_id', 'cluster_id', 'predicted_clusters.cluster_id', 'true_clusters.record_id', 'true_clusters.cluster_id']) -%}
  {%- set groups = sqlrank.list_groups(by) -%}
  {{- adapter.dispatch('clusters', 'sqlrank')(predicted_clusters, true_clusters, groups, columns) -}}
{% endmacro %}

{% macro default__clusters(predicted_clusters, true_clusters, groups, columns) %}
  {{- sqlrank.refuse_adapter('clusters', ['duckdb', 'bigquery', 'postgres', 'redshift', 'snowflake', 'spark']) -}}
{% endmacro %}
