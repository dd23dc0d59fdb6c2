-- pair_share: weight of the pairs of a positive and a negative below it over that of all pairs; a tie counts as tie_credit.
CREATE MACRO pair_share(positives, negatives_below, negatives_tied, negatives_above, tie_credit) AS
  pair_weight(positives, negatives_below, negatives_tied, tie_credit) / NULLIF(all_pairs(positives, negatives_below, negatives_tied, negatives_above, tie_credit), 0)
