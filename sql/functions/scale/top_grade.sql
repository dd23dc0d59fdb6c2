-- Gains as shares of the highest grade judged for the query.
CREATE MACRO scale(highest) AS highest
