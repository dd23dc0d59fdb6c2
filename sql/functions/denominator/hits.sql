-- The relevant documents retrieved within the cut-off.
CREATE MACRO denominator(cutoff, relevant, retrieved, hits) AS hits
