-- targeting: the top share of all rows, of which one arm may have more than the other.
-- Source: scikit-uplift uplift_at_k, strategy overall.
CREATE MACRO targeting(share_of_all, share_of_arm) AS share_of_all
