-- rating_deviation: deviation of a rating from the mean of its group.
-- Nonzero: group_ratings
CREATE MACRO rating_deviation(group_id, rating, num_ratings, ratings_to, value_ratings, group_ratings) AS
  CAST(rating AS DOUBLE) - SUM(num_ratings * CAST(rating AS DOUBLE)) OVER (PARTITION BY group_id) / group_ratings
