-- pooled_moments: one row per metric and treatment: moments of treatment and control as one sample, and differences of their means.
-- The letters of products are v for values, d for denominators, c for covariates, and e for denominators of covariates.
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
  treatment.svc + control.svc AS svc,
  treatment.sve + control.sve AS sve,
  treatment.sdc + control.sdc AS sdc,
  treatment.sde + control.sde AS sde,
  treatment.scc + control.scc AS scc,
  treatment.sce + control.sce AS sce,
  treatment.see + control.see AS see
FROM metric_moments AS treatment
INNER JOIN metric_moments AS control ON treatment.metric = control.metric
WHERE control.variant = $control AND treatment.variant <> $control
