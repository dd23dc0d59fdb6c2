-- weight_below: the weight below, summed from the lowest score up, so that light rows keep their digits next to heavy ones.
CREATE MACRO weight_below(total, above, here, below) AS below
