-- scale: gains as shares of the highest grade among the query's judgments.
CREATE MACRO scale(highest) AS highest
