-- pooled_moments: one row per metric and treatment, with the moments of treatment and control as one sample, and the differences of their means.
-- Grain: metric, variant
SELECT
  t.metric,
  t.variant,
  c.variant AS control,
  t.units + c.units AS units,
  t.units * c.units / (t.units + c.units) AS half,
  (t.units * t.denominator + c.units * c.denominator) / (t.units + c.units) AS denominator,
  (t.units * t.covariate_denominator + c.units * c.covariate_denominator) / (t.units + c.units) AS covariate_denominator,
  (t.units * t.value + c.units * c.value) / NULLIF(t.units * t.denominator + c.units * c.denominator, 0) AS ratio,
  (t.units * t.covariate + c.units * c.covariate)
  / NULLIF(t.units * t.covariate_denominator + c.units * c.covariate_denominator, 0) AS centre,
  t.value - c.value AS value_apart,
  t.denominator - c.denominator AS denominator_apart,
  t.covariate - c.covariate AS covariate_apart,
  t.covariate_denominator - c.covariate_denominator AS covariate_denominator_apart,
  t.svc + c.svc AS svc,
  t.sve + c.sve AS sve,
  t.sdc + c.sdc AS sdc,
  t.sde + c.sde AS sde,
  t.scc + c.scc AS scc,
  t.sce + c.sce AS sce,
  t.see + c.see AS see
FROM metric_moments AS t
INNER JOIN metric_moments AS c ON t.metric = c.metric
WHERE c.variant = $control AND t.variant <> $control
