-- pair_balance: weight of the pairs of a positive and a negative below it less that of the others, over that of all pairs.
-- A tie counts as tie_credit.
CREATE MACRO pair_balance(positives, negatives_below, negatives_tied, negatives_above, tie_credit) AS
  (
    SUM(positives * (negatives_below + tie_credit * negatives_tied)) - SUM(positives * (negatives_above + (1 - tie_credit) * negatives_tied))
  ) / NULLIF(
    SUM(positives * (negatives_below + tie_credit * negatives_tied)) + SUM(positives * (negatives_above + (1 - tie_credit) * negatives_tied)), 0
  )
