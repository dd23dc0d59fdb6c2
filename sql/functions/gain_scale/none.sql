-- gain_scale: gains as they are.
CREATE MACRO gain_scale(highest) AS 1
