-- weight_below: the total weight less the weight at and above the score, which saves a sort and is exact if all weights are 1.
CREATE MACRO weight_below(total, above, here, below) AS total - above - here
