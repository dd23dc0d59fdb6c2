{# sqlrank 0.1.0: dbt package #}
{% macro metric_directions() %}
  {#- Return in which direction the columns of results are better, of those that have one. -#}
  {{- return({
    'ndcg_at_k': 'higher',
    'ap': 'higher',
    'rr': 'higher',
    'p_at_k': 'higher',
    'r_at_k': 'higher',
    'success_at_k': 'higher',
    'auc': 'higher',
    'aps': 'higher',
    'log_loss': 'lower',
    'brier': 'lower',
    'ece': 'lower',
    'pairwise_precision': 'higher',
    'pairwise_recall': 'higher',
    'pairwise_f': 'higher',
    'bcubed_precision': 'higher',
    'bcubed_recall': 'higher',
    'bcubed_f': 'higher'
  }) -}}
{% endmacro %}
