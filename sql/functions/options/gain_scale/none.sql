-- gain_scale: 1, which leaves gains as they are.
CREATE MACRO gain_scale(highest) AS 1
