-- pair_share: weight of the pairs of a positive and a negative below it over that of all pairs; a tie counts as tie_credit.
CREATE MACRO pair_share(positives, negatives_below, negatives_tied, negatives_above, tie_credit) AS
  SUM(positives * (negatives_below + tie_credit * negatives_tied)) / NULLIF(
    SUM(positives * (negatives_below + tie_credit * negatives_tied)) + SUM(positives * (negatives_above + (1 - tie_credit) * negatives_tied)), 0
  )
