-- confusion: one row per list: the weights of true and false positives and negatives at the threshold, among the scores
-- of positives, at which a criterion is greatest; of equals the highest.
-- criterion(): default f: what is to be greatest.
SELECT
  list_id,
  threshold,
  tp,
  fp,
  tn,
  fn
FROM (
  SELECT
    list_id,
    threshold,
    tp,
    fp,
    tn,
    fn,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY COALESCE(criterion(tp, fp, tn, fn), -2) DESC, threshold DESC) AS place
  FROM (
    SELECT
      list_id,
      score AS threshold,
      positives_above + positives AS tp,
      negatives_above + negatives AS fp,
      negatives_below AS tn,
      positives_below AS fn
    FROM thresholds
  ) AS candidates
) AS judged
WHERE place = 1
