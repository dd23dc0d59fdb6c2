{# sqlrank 0.1.0: dbt package #}
{% macro redshift__mean_difference(queries, groups, columns) %}
WITH sqlrank_queries_source AS (
  SELECT {{ sqlrank.source_columns('queries', ['query_id', 'difference'], columns, groups) }}
  FROM {{ queries }}
), sqlrank_queries AS (
  -- One row per sqlrank_group and query, with its attributes.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    query_id,
    CAST(difference AS DOUBLE PRECISION) AS difference
  FROM sqlrank_queries_source
), sqlrank_evaluated_queries AS (
  -- One row per sqlrank_group and query that has retrieved documents, judged or not.
  -- (evaluated_queries/retrieved.sql)
  SELECT {{ sqlrank.group_columns(groups, '') }}, query_id
  FROM sqlrank_queries
  GROUP BY {{ sqlrank.group_columns(groups, '') }}, query_id
), sqlrank_list_measures_metrics AS (
  -- One row per sqlrank_group and query.
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_evaluated_queries.') }},
    sqlrank_evaluated_queries.query_id,
    -- Mean: mean of a column over queries, by the weights of the queries table where it has them.
    MAX(sqlrank_queries.difference) AS mean_difference
  FROM sqlrank_evaluated_queries
  LEFT JOIN sqlrank_queries
    ON sqlrank_queries.query_id = sqlrank_evaluated_queries.query_id
    AND {% for _ in groups %}(sqlrank_queries.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_queries.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
  GROUP BY
    {{ sqlrank.group_columns(groups, 'sqlrank_evaluated_queries.') }},
    sqlrank_evaluated_queries.query_id
), sqlrank_query_metrics AS (
  -- One row per sqlrank_group and query to evaluate.
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_evaluated_queries.') }},
    sqlrank_list_measures_metrics.mean_difference
  FROM sqlrank_evaluated_queries
  LEFT JOIN sqlrank_list_measures_metrics
    ON {% for _ in groups %}(sqlrank_list_measures_metrics.sqlrank_group_{{ loop.index }} = sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} OR (sqlrank_list_measures_metrics.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_evaluated_queries.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
    AND sqlrank_list_measures_metrics.query_id = sqlrank_evaluated_queries.query_id
), sqlrank_group_metrics AS (
  -- One row per sqlrank_group.
  SELECT {{ sqlrank.group_columns(groups, '') }}, AVG(mean_difference) AS mean_difference
  FROM sqlrank_query_metrics
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_unit_influence AS (
  -- One row per sqlrank_group and query to evaluate: its influence on each metric.
  SELECT
    {{ sqlrank.group_columns(groups, 'sqlrank_query_metrics.') }},
    -- difference from the mean
    sqlrank_query_metrics.mean_difference
    - sqlrank_group_metrics.mean_difference AS mean_difference_influence,
    sqlrank_group_metrics.mean_difference AS mean_difference_value
  FROM sqlrank_query_metrics
  INNER JOIN sqlrank_group_metrics
    ON {% for _ in groups %}(sqlrank_group_metrics.sqlrank_group_{{ loop.index }} = sqlrank_query_metrics.sqlrank_group_{{ loop.index }} OR (sqlrank_group_metrics.sqlrank_group_{{ loop.index }} IS NULL AND sqlrank_query_metrics.sqlrank_group_{{ loop.index }} IS NULL)){% if not loop.last %} AND {% endif %}{% endfor %}
), sqlrank_standard_errors AS (
  -- One row per sqlrank_group: its units, standard error, and terms of the interval.
  SELECT
    {{ sqlrank.group_columns(groups, '') }}, MAX(mean_difference_value) AS value,
    COUNT(mean_difference_influence) AS units,
    -- standard error of the metric
    SQRT(
      SUM(mean_difference_influence * mean_difference_influence)
      / NULLIF(COUNT(mean_difference_influence) - 1, 0)
      / NULLIF(COUNT(mean_difference_influence), 0)
    ) AS se,
    -- degrees of freedom, NULL in place of 0
    NULLIF(COUNT(mean_difference_influence) - 1, 0) AS df,
    -- concentration of the variance: 0 if units have equal influence, near 1 if one has all
    SUM(
      mean_difference_influence * mean_difference_influence * mean_difference_influence
      * mean_difference_influence
    )
    / NULLIF(
      SUM(mean_difference_influence * mean_difference_influence)
      * SUM(mean_difference_influence * mean_difference_influence),
      0
    ) - CAST(1 AS DOUBLE PRECISION) / NULLIF(COUNT(mean_difference_influence), 0) AS concentration
  FROM sqlrank_unit_influence
  GROUP BY {{ sqlrank.group_columns(groups, '') }}
), sqlrank_interval_terms AS (
  -- One row per sqlrank_group: the metric as a share, and terms of the variance for the interval.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    value, units, se, df,
    -- about (t / z)^2, t with units - 1 degrees of freedom, z normal; within 1.6 % from 4 units on
    (units - 1 + CAST(0.8999505931404055 AS DOUBLE PRECISION))
    / NULLIF(units - 1 - CAST(1.5207788172066563 AS DOUBLE PRECISION), 0) AS t_growth,
    -- Satterthwaite's degrees of freedom: 2 / concentration, kept in 3..units - 1; a concentration
    -- of 2 is an overflow
    CASE
      WHEN units <= 4 OR concentration >= 2 THEN units - 1
      WHEN concentration * 3 > 2 THEN 3
      WHEN concentration * (units - 1) > 2 THEN 2 / NULLIF(concentration, 0)
      ELSE units - 1
    END AS effective_df,
    -- factor if few units make up the variance, by simulation: 1 + 2 (concentration - 2 / units),
    -- at least 1
    CASE
      WHEN units > 4 AND concentration < 2 AND concentration * units > 2
      THEN 1 + 2 * concentration - CAST(4 AS DOUBLE PRECISION) / units
      ELSE 1
    END AS inflation
  FROM sqlrank_standard_errors
), sqlrank_margins AS (
  -- One row per sqlrank_group: the term from which both limits of the interval follow.
  SELECT
    {{ sqlrank.group_columns(groups, '') }},
    value, units, se,
    -- half-width of the interval: a quantile of Student's t times a standard error
    CASE
      WHEN se > CAST('1e-12' AS DOUBLE PRECISION) * ABS(value)
      THEN CASE
        WHEN df = 1 THEN CAST(12.706204736174696 AS DOUBLE PRECISION)
        WHEN df = 2 THEN CAST(4.30265272974946 AS DOUBLE PRECISION)
        ELSE CAST(1.9599639845400536 AS DOUBLE PRECISION)
        + CAST(2.37227122985838 AS DOUBLE PRECISION) / df
        + CAST(2.8224987226224036 AS DOUBLE PRECISION) / POWER(df, 2)
        + CAST(2.555842051278845 AS DOUBLE PRECISION) / POWER(df, 3)
        + CAST(1.58978315186063 AS DOUBLE PRECISION) / POWER(df, 4)
        + CAST(0.7284721002357477 AS DOUBLE PRECISION) / POWER(df, 5)
        + CAST(0.6732174654619627 AS DOUBLE PRECISION) / POWER(df, 6)
        - CAST(0.1380370249284715 AS DOUBLE PRECISION) / POWER(df, 7)
        - CAST(1.093219426976424 AS DOUBLE PRECISION) / POWER(df, 8)
        + CAST(4.192721092336624 AS DOUBLE PRECISION) / POWER(df, 9)
        - CAST(5.569650865297036 AS DOUBLE PRECISION) / POWER(df, 10)
        + CAST(2.8783930654182805 AS DOUBLE PRECISION) / POWER(df, 11)
      END
      * SQRT(
        se * se * inflation * (effective_df + CAST(0.8999505931404055 AS DOUBLE PRECISION))
        / NULLIF(effective_df - CAST(1.5207788172066563 AS DOUBLE PRECISION), 0)
        / NULLIF(t_growth, 0)
      )
    END AS margin
  FROM sqlrank_interval_terms
)
SELECT
  {{ sqlrank.group_keys(groups, '') }}value AS mean_difference,
  value - margin AS mean_difference_ci_low,
  value + margin AS mean_difference_ci_high,
  se AS mean_difference_se,
  CAST(units AS BIGINT) AS mean_difference_n_units
FROM sqlrank_margins
{% endmacro %}
