-- stop_probability: the scale of Yandex's pFound: grades 4 vital .61, 3 useful .41, 2 relevant+ .14, 1 relevant- .07.
CREATE MACRO stop_probability(relevance) AS CASE
  WHEN relevance >= 4 THEN 0.61
  WHEN relevance >= 3 THEN 0.41
  WHEN relevance >= 2 THEN 0.14
  WHEN relevance >= 1 THEN 0.07
  ELSE 0
END
