-- pooled_moments: one row per metric and treatment: moments of treatment and control as one sample, and differences of their means.
-- A column of two names, such as value_covariate, is the sum of their products about the means; base is the covariate's denominator.
-- The product of differences of two means, times half of the harmonic mean of the numbers of units, is what the sum of products about the
-- mean of both has more than the sums about the means of each.
-- Grain: metric, variant
SELECT
  treatment.metric, treatment.variant,
  treatment.units + control.units AS units,
  treatment.units * control.units / (treatment.units + control.units) AS half_harmonic_units, -- factor of squared differences of means in the pooled sum
  (treatment.units * treatment.denominator + control.units * control.denominator) / (treatment.units + control.units) AS denominator,
  (treatment.units * treatment.covariate_denominator + control.units * control.covariate_denominator)
  / (treatment.units + control.units) AS covariate_denominator,
  (treatment.units * treatment.value + control.units * control.value)
  / NULLIF(treatment.units * treatment.denominator + control.units * control.denominator, 0) AS ratio,
  (treatment.units * treatment.covariate + control.units * control.covariate)
  / NULLIF(treatment.units * treatment.covariate_denominator + control.units * control.covariate_denominator, 0) AS covariate_ratio,
  treatment.value - control.value AS value_difference,
  treatment.denominator - control.denominator AS denominator_difference,
  treatment.covariate - control.covariate AS covariate_difference,
  treatment.covariate_denominator - control.covariate_denominator AS covariate_denominator_difference,
  treatment.value_covariate + control.value_covariate AS value_covariate,
  treatment.value_base + control.value_base AS value_base,
  treatment.denominator_covariate + control.denominator_covariate AS denominator_covariate,
  treatment.denominator_base + control.denominator_base AS denominator_base,
  treatment.covariate_covariate + control.covariate_covariate AS covariate_covariate,
  treatment.covariate_base + control.covariate_base AS covariate_base,
  treatment.base_base + control.base_base AS base_base
FROM metric_moments AS treatment
INNER JOIN metric_moments AS control ON treatment.metric = control.metric
WHERE control.variant = $control AND treatment.variant <> $control
