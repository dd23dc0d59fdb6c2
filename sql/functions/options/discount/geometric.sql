-- discount: persistence^(rank - 1), as in rank-biased precision.
-- $persistence: number above 0 to 1, default 0.8: probability of continuing to the next document.
CREATE MACRO discount(rank) AS exp_or_zero((rank - 1) * LN($persistence))
