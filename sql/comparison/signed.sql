-- signed: differences beside how far each moves their mean, and as whole numbers of 2^-30 of the scale, so that what is equal in decimals
-- is equal, and sums do not depend on the order of rows.
SELECT
  d.cell,
  d.pair,
  d.metric,
  d.unit,
  d.weight * (d.difference - a.difference) / NULLIF(a.all_weight, 0) AS influence,
  FLOOR(COALESCE(d.difference / NULLIF(a.scale, 0), 0) * 1073741824 + 0.5) AS fixed
FROM differences AS d
INNER JOIN averages AS a ON d.cell = a.cell AND d.pair = a.pair AND d.metric = a.metric
