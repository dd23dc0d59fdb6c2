-- rating_deviation: deviation of the mean rank of a rating from that of its group.
CREATE MACRO rating_deviation(group_id, rating, num_ratings, ratings_to, value_ratings, group_ratings) AS
  ratings_to - (value_ratings + group_ratings) / 2
