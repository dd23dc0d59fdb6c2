-- Standard error of the area under a curve, positives and negatives each being a sample of their own.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO standard_error(influence, alike, label) AS SQRT(
  SUM(CASE WHEN label = 1 THEN alike ELSE 0 END) / NULLIF(SUM(CASE WHEN label = 1 THEN alike ELSE 0 END) - 1, 0)
    * SUM(CASE WHEN label = 1 THEN influence * influence ELSE 0 END)
  + SUM(CASE WHEN label = 1 THEN 0 ELSE alike END) / NULLIF(SUM(CASE WHEN label = 1 THEN 0 ELSE alike END) - 1, 0)
    * SUM(CASE WHEN label = 1 THEN 0 ELSE influence * influence END)
)
