-- pair_weight: weight of the pairs of a positive and these negatives, of which those tied with it count as tie_credit.
CREATE MACRO pair_weight(positives, negatives, negatives_tied, tie_credit) AS SUM(positives * (negatives + tie_credit * negatives_tied))
