-- denominator: the cut-off, even if fewer documents exist.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS cutoff
