-- pAUC: partial area under the ROC curve, up to a false positive rate; straight lines between its points.
--     pAUC = integral of TPR over FPR from 0 to max_fpr, scaled by area_scaling()
-- Full name: partial area under the ROC curve.
-- Use when: only thresholds with few false positives are usable, as in fraud detection or screening.
-- $max_fpr: number above 0 to 1: the false positive rate up to which the area is taken.
-- area_scaling(): default mcclish: how the area is scaled.
-- Requires: binary labels.
-- Interval: bootstrap (the score at which the area ends depends on all rows)
-- Tie bounds: worst to best.
-- Range: 0 to 1.
-- Undefined: predictions of one class only.
-- Source: McClish 1989; scikit-learn roc_auc_score(max_fpr).
SELECT
  group_id,
  area_scaling(
    SUM(
      positives * CASE
        WHEN negatives_above + negatives <= $max_fpr * total_negatives
          THEN $max_fpr - (negatives_above + negatives / 2) / NULLIF(total_negatives, 0)
        WHEN negatives_above >= $max_fpr * total_negatives THEN 0
        ELSE ($max_fpr - negatives_above / NULLIF(total_negatives, 0)) * (($max_fpr * total_negatives - negatives_above) / NULLIF(2 * negatives, 0))
      END
    ) / NULLIF(SUM(positives), 0),
    $max_fpr
  ) AS pauc
FROM positive_thresholds
GROUP BY group_id
