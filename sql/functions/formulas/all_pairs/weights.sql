-- all_pairs: weight of the pairs of a positive and a negative, of which those of a tie count as tie_credit on one side and as the rest on the other.
CREATE MACRO all_pairs(positives, negatives_below, negatives_tied, negatives_above, tie_credit) AS
  pair_weight(positives, negatives_below, negatives_tied, tie_credit)
    + pair_weight(positives, negatives_above, negatives_tied, 1 - tie_credit)
