-- chance_disagreement: sum of the squared differences of the pairs of a rating of an item and one of the group.
CREATE MACRO chance_disagreement(num_ratings, deviation, group_squares, group_ratings) AS
  SUM(num_ratings * (group_squares + group_ratings * deviation * deviation))
