-- targeting: the top share of each arm alone.
-- Source: scikit-uplift uplift_at_k, strategy by_group.
CREATE MACRO targeting(share_of_all, share_of_arm) AS share_of_arm
