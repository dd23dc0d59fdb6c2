-- AUC: area under the ROC curve, the probability that a positive is scored above a negative; a tie counts half.
--     AUC = C / (C + D)
--     C = sum over positives of w (negatives below + tie_credit * negatives at the same score)
--     D = sum over positives of w (negatives above + (1 - tie_credit) * negatives at the same score)
-- Negatives are counted by their weights, so that C + D is the weight of all pairs.
-- Full name: area under the ROC curve.
-- Use when: you only need the order of scores, and positives and negatives matter equally. It says nothing about probabilities: add LogLoss.
-- Reading: 0.75 means that of 100 pairs of a positive and a negative, 75 are in the right order. It doesn't depend on the share of positives, and easy negatives raise it.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Reference value: 0.5 (random scores).
-- Interval: influence auc_influence FROM prediction_influence, error delong, limits hanley_mcneil
-- Tie bounds: worst to best.
-- Undefined: predictions of one class only.
-- Source: Hanley & McNeil 1982; scikit-learn roc_auc_score.
SELECT
  group_id,
  pair_share(positives, negatives_below, negatives, negatives_above, $tie_credit) AS auc
FROM positive_thresholds
GROUP BY group_id
