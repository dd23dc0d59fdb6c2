-- pair_balance: weight of the pairs of a positive and a negative below it less that of the others, over that of all pairs.
-- A tie counts as tie_credit.
CREATE MACRO pair_balance(positives, negatives_below, negatives_tied, negatives_above, tie_credit) AS
  (
    pair_weight(positives, negatives_below, negatives_tied, tie_credit)
      - pair_weight(positives, negatives_above, negatives_tied, 1 - tie_credit)
  ) / NULLIF(all_pairs(positives, negatives_below, negatives_tied, negatives_above, tie_credit), 0)
