-- gain_scale: the highest grade among the query's judgments, so that gains are shares of it.
CREATE MACRO gain_scale(highest) AS highest
