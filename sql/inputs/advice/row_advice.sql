-- row_advice: one row: what may stand in the place of a column that breaks a rule of checks/.
-- The name of the rule comes before two underscores. A message suggests the expression after THEN if the condition holds for all values, with the words in the comment.
-- Grain: one row
-- Nonzero: 1 + EXP(-value).
SELECT
  CASE WHEN MIN(value) >= 0 AND MAX(value) <= 1.000001 THEN LEAST(value, 1) END AS improbable_score__above, -- to cut rounding off
  CASE WHEN MIN(value) < 0 AND MIN(value) >= -0.000001 AND MAX(value) <= 1.000001 THEN LEAST(GREATEST(value, 0), 1) END AS improbable_score__both, -- to cut rounding off
  CASE WHEN MIN(value) >= 0 AND MAX(value) > 1.000001 AND MAX(value) <= 100 THEN value / 100 END AS improbable_score__percentage, -- for percentages
  CASE WHEN MIN(value) >= 0 AND MAX(value) > 100 AND MAX(value) <= 255 AND MAX(ABS(value - FLOOR(value))) = 0 THEN value / 255 END AS improbable_score__bytes, -- for numbers from 0 to 255
  CASE WHEN MIN(value) >= 0 AND MAX(value) > 100 AND MAX(value) <= 1000 AND MAX(value) <> 255 THEN value / 1000 END AS improbable_score__thousandths, -- for thousandths
  CASE WHEN MIN(value) >= 0 AND MAX(value) > 1000 AND MAX(value) <= 10000 THEN value / 10000 END AS improbable_score__basis_points, -- for ten-thousandths
  CASE WHEN MAX(ABS(value)) <= 700 AND (MIN(value) < -0.000001 OR MAX(value) BETWEEN 1.000001 AND 20) THEN 1 / (1 + EXP(-value)) END AS improbable_score__logit, -- for logits
  CASE WHEN MIN(value) < 0 AND (COUNT(DISTINCT value) = 2 OR MAX(ABS(value)) <= 1) THEN value > 0 END AS nonbinary_label__signs, -- for labels below and above 0
  CASE WHEN MIN(value) = 1 AND MAX(value) = 2 THEN value = 2 END AS nonbinary_label__second, -- if 2 is positive
  CASE WHEN MIN(value) = 0 AND MAX(value) > 1 AND MAX(ABS(value - FLOOR(value))) = 0 THEN value >= 1 END AS nonbinary_label__grades, -- for grades or counts from 0
  CASE WHEN MIN(value) >= 1 AND MAX(value) > 2 AND MAX(value) <= 3 THEN value >= 3 END AS nonbinary_label__third, -- if 3 of 1 to 3 is positive
  CASE WHEN MIN(value) >= 1 AND MAX(value) > 3 AND MAX(value) <= 5 THEN value >= 4 END AS nonbinary_label__ratings, -- for ratings from 1 to 5
  CASE WHEN MIN(value) >= 1 AND MAX(value) > 5 AND MAX(value) <= 10 THEN value >= 8 END AS nonbinary_label__tenths, -- for ratings from 1 to 10
  CASE WHEN MIN(value) >= 1 AND MAX(value) > 10 AND MAX(value) <= 100 THEN value >= 80 END AS nonbinary_label__hundredths, -- for ratings from 1 to 100
  CASE WHEN MIN(value) >= 1 AND MAX(value) > 100 THEN value > 1 END AS nonbinary_label__counts, -- for counts from 1
  CASE WHEN MIN(value) >= 0 AND MAX(ABS(value - FLOOR(value))) = 0 THEN value > 0 END AS nonbinary_value__counts, -- for counts
  CASE WHEN MIN(value) >= 0 AND MAX(value) <= 1 THEN value >= 0.5 END AS nonbinary_value__shares, -- for probabilities
  CASE WHEN COUNT(value) > 0 THEN NULLIF(value, CAST('nan' AS DOUBLE)) END AS nan_score__missing, -- and nulls='drop'
  CASE WHEN SUM(CASE WHEN ISINF(value) THEN 1 ELSE 0 END) = 0 THEN NULLIF(value, CAST('nan' AS DOUBLE)) END AS nan_value__missing -- and nulls='drop'
FROM input
