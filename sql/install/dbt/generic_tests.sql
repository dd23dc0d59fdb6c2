{% test metric_at_least(
    model, minimum, column_name=none, metric=none, qrels=none, true_clusters=none, by=none, k=10, columns={}
) %}
  {%- do sqlrank.check_number('minimum', minimum) -%}
  {%- set value = sqlrank.value_column(column_name, metric) -%}
  {%- set keys = sqlrank.key_columns(by) -%}
WITH evaluated AS (
  {{ sqlrank.metric_rows(model, column_name, metric, qrels, true_clusters, by, k, columns) }}
), numbered AS (
  SELECT 1 AS one, {{ keys }}{{ value }} AS value FROM evaluated
)
-- A group is returned if its value is undefined or too small, and a row of NULL if there is no group.
SELECT {{ keys }}numbered.value
FROM (SELECT 1 AS one) AS at_least_one
LEFT JOIN numbered ON numbered.one = at_least_one.one
WHERE numbered.value IS NULL OR numbered.value < {{ minimum }}
{% endtest %}


{% test metric_not_worse_than(
    model, baseline, column_name=none, metric=none, tolerance=0, interval=false, min_units=20, allow_inconclusive=false, direction=none,
    qrels=none, true_clusters=none, by=none, k=10, columns={}, baseline_columns=none
) %}
  {%- do sqlrank.check_number('tolerance', tolerance) -%}
  {%- set value = sqlrank.value_column(column_name, metric) -%}
  {%- set sign = sqlrank.sign_of_gain(value, direction) -%}
  {%- set keys = sqlrank.key_columns(by) -%}
  {%- set old_columns = columns if baseline_columns is none else baseline_columns -%}
  {%- if interval and (column_name is not none or qrels is none) -%}
    {%- do exceptions.raise_compiler_error("sqlrank: an interval needs metric and qrels, of which the values of queries are compared") -%}
  {%- endif -%}
  {%- set unit = 'query_id, ' if interval else '' -%}
  {%- set grouped = (keys ~ unit).rstrip(', ') -%}
WITH candidate AS (
  {{ sqlrank.metric_rows(model, column_name, metric, qrels, true_clusters, by, k, columns, interval) }}
), baseline AS (
  {{ sqlrank.metric_rows(baseline, column_name, metric, qrels, true_clusters, by, k, old_columns, interval) }}
), both_values AS (
  SELECT {{ keys }}{{ unit }}1 AS is_candidate, {{ value }} AS value FROM candidate
  UNION ALL
  SELECT {{ keys }}{{ unit }}0 AS is_candidate, {{ value }} AS value FROM baseline
), pairs AS (
  SELECT
    {{ keys }}{{ unit }}
    SUM(is_candidate) AS candidate_rows,
    COUNT(*) - SUM(is_candidate) AS baseline_rows,
    MAX(CASE WHEN is_candidate = 1 THEN value END) AS value,
    MAX(CASE WHEN is_candidate = 0 THEN value END) AS value_baseline
  FROM both_values
  {% if grouped %}GROUP BY {{ grouped }}{% endif %}
),{% if interval %} differences AS (
  SELECT {{ keys }}query_id, {{ sign }} * (value - value_baseline) AS difference FROM pairs
), intervals AS (
  {{ sqlrank.mean_difference('differences', by=sqlrank.key_list(by)) }}
), gains AS (
  SELECT
    {{ keys }}mean_difference AS gain, mean_difference_n_units AS units,
    COALESCE(mean_difference_ci_low, mean_difference) AS ci_low,
    COALESCE(mean_difference_ci_high, mean_difference) AS ci_high
  FROM intervals
), judged AS (
  SELECT
    1 AS one, {{ keys }}gain, ci_low, ci_high, units,
    CASE
      WHEN gain IS NULL THEN 'undefined'
      WHEN units < {{ min_units }} THEN 'inconclusive'
      WHEN ci_high < -({{ tolerance }}) THEN 'fail'
      WHEN ci_low >= -({{ tolerance }}) THEN 'pass'
      ELSE 'inconclusive'
    END AS verdict
  FROM gains
){% else %} judged AS (
  SELECT
    1 AS one, {{ keys }}value, value_baseline,
    CASE
      WHEN candidate_rows <> 1 OR baseline_rows <> 1 OR value IS NULL OR value_baseline IS NULL THEN 'undefined'
      WHEN {{ sign }} * (value - value_baseline) < -({{ tolerance }}) THEN 'fail'
      ELSE 'pass'
    END AS verdict
  FROM pairs
){% endif %}
-- A group is returned unless it passes, and a row of NULL if there is no group.
SELECT {{ keys }}{% if interval %}gain, ci_low, ci_high, units{% else %}value, value_baseline{% endif %}, verdict
FROM (SELECT 1 AS one) AS at_least_one
LEFT JOIN judged ON judged.one = at_least_one.one
WHERE judged.verdict IS NULL OR judged.verdict NOT IN ('pass'{% if allow_inconclusive %}, 'inconclusive'{% endif %})
{% endtest %}


{% macro metric_rows(model, column_name, metric, qrels, true_clusters, by, k, columns, per_query=false) %}
  {#- Write the query of the values of a metric: the rows of a table that has it, or a statement over inputs. -#}
  {%- if column_name is not none -%}
    SELECT {{ sqlrank.key_columns(by) }}{{ column_name }} FROM {{ model }}
  {%- elif qrels is not none and per_query -%}
    {{ sqlrank.rankings_by_query(model, qrels, k=k, by=by, columns=columns) }}
  {%- elif qrels is not none -%}
    {{ sqlrank.rankings(model, qrels, k=k, by=by, columns=columns) }}
  {%- elif true_clusters is not none -%}
    {{ sqlrank.clusters(model, true_clusters, by=by, columns=columns) }}
  {%- else -%}
    {{ sqlrank.predictions(model, by=by, columns=columns) }}
  {%- endif -%}
{% endmacro %}


{% macro value_column(column_name, metric) %}
  {#- Return the column of a metric: the one that is tested, or one of a macro's result. -#}
  {%- if (column_name is none) == (metric is none) -%}
    {%- do exceptions.raise_compiler_error("sqlrank: test a column of a model of metrics, or give the metric to compute") -%}
  {%- endif -%}
  {{- return(metric if column_name is none else column_name) -}}
{% endmacro %}


{% macro key_list(by) %}
  {#- Return the names of the columns of groups. -#}
  {{- return(sqlrank.list_groups(by) | map(attribute='name') | select | list) -}}
{% endmacro %}


{% macro key_columns(by) %}
  {#- Write the names of the columns of groups, each with a comma. -#}
  {%- for name in sqlrank.key_list(by) -%}{{- name -}},{{ ' ' -}}{%- endfor -%}
{% endmacro %}


{% macro sign_of_gain(metric, direction) %}
  {#- Return 1 if higher values are better, -1 if lower ones are. -#}
  {%- set known = sqlrank.metric_directions().get(metric) if direction is none else direction -%}
  {%- if known not in ('higher', 'lower') -%}
    {%- do exceptions.raise_compiler_error("sqlrank: nothing says if higher values of " ~ metric ~ " are better. Give direction: higher or lower") -%}
  {%- endif -%}
  {{- return(1 if known == 'higher' else -1) -}}
{% endmacro %}
