-- scale: the sum itself, which grows with the number of positives.
CREATE MACRO scale(total, best_total, positives) AS CASE WHEN positives > 0 THEN total END
