-- The cut-off itself, however few documents there are.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS cutoff
