-- scale: share of the sum that the same predictions would have if all negatives were below the positives.
CREATE MACRO scale(total, best_total, positives) AS total / NULLIF(best_total, 0)
