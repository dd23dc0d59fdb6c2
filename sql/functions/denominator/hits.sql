-- denominator: the number of relevant documents retrieved within the cut-off.
-- Linear: no.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS hits
