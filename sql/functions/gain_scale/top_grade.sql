-- gain_scale: gains as shares of the highest grade among the query's judgments.
CREATE MACRO gain_scale(highest) AS highest
