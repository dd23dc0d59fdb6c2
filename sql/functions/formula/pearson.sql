-- formula: Pearson correlation of the ranks.
CREATE MACRO formula(correlation, distance) AS correlation
