-- AdjustedMutualInformation: mutual information adjusted for chance: 0 on the average at random, 1 if the clusterings are the same.
--     AMI = (MI - expected MI) / (mean entropy - expected MI)
-- Use when: cluster sizes are very unequal and you need to discount the agreement by chance.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Range: -inf to 1.
-- Undefined: no records.
-- Source: Vinh, Epps & Bailey 2010; scikit-learn adjusted_mutual_info_score.
SELECT
  group_id,
  MAX(
    CASE
      WHEN variation_of_information = 0 THEN 1
      ELSE (mutual_information - expected_mutual_information) / NULLIF(mean_entropy - expected_mutual_information, 0)
    END
  ) AS adjusted_mutual_information
FROM adjusted_information_terms
GROUP BY group_id
