-- Standard error of a metric from rows that stand for several units, each with the root of the sum of their squared influence.
CREATE MACRO standard_error(influence, alike, label) AS SQRT(SUM(alike) / NULLIF(SUM(alike) - 1, 0) * SUM(influence * influence))
