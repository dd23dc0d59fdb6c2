-- scale: gains as they are.
CREATE MACRO scale(highest) AS 1
