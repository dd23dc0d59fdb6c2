-- scale: mean over the positives.
CREATE MACRO scale(total, best_total, positives) AS total / NULLIF(positives, 0)
