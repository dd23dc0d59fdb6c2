-- Which records are one person? Two are compared if they share a birthday, a number of social security, a surname with a postcode, or
-- a given name with an address, and linked if four of nine fields agree. Records that are linked, over others too, are a cluster.
CREATE VIEW persons AS
SELECT
  rec_id AS record_id,
  regexp_extract(rec_id, '\d+') AS true_cluster,
  nullif(trim(given_name), '') AS given_name,
  nullif(trim(surname), '') AS surname,
  nullif(trim(street_number), '') AS street_number,
  nullif(trim(address_1), '') AS address_1,
  nullif(trim(suburb), '') AS suburb,
  nullif(trim(postcode), '') AS postcode,
  nullif(trim(state), '') AS state,
  nullif(trim(date_of_birth), '') AS date_of_birth,
  nullif(trim(soc_sec_id), '') AS soc_sec_id
FROM given;

CREATE TABLE candidates AS
SELECT a.record_id AS left_id, b.record_id AS right_id
FROM persons AS a
JOIN persons AS b ON a.record_id < b.record_id
WHERE a.date_of_birth = b.date_of_birth
  OR a.soc_sec_id = b.soc_sec_id
  OR (a.surname = b.surname AND a.postcode = b.postcode)
  OR (a.given_name = b.given_name AND a.address_1 = b.address_1);

CREATE TABLE links AS
SELECT left_id, right_id
FROM candidates
JOIN persons AS a ON a.record_id = left_id
JOIN persons AS b ON b.record_id = right_id
WHERE coalesce((a.given_name = b.given_name)::INT, 0)
  + coalesce((a.surname = b.surname)::INT, 0)
  + coalesce((a.street_number = b.street_number)::INT, 0)
  + coalesce((a.address_1 = b.address_1)::INT, 0)
  + coalesce((a.suburb = b.suburb)::INT, 0)
  + coalesce((a.postcode = b.postcode)::INT, 0)
  + coalesce((a.state = b.state)::INT, 0)
  + coalesce((a.date_of_birth = b.date_of_birth)::INT, 0)
  + coalesce((a.soc_sec_id = b.soc_sec_id)::INT, 0) >= 4;

-- A cluster is called by the least of its records: each hands it on to those that it is linked with, until none gets a lesser one.
CREATE TABLE records AS
WITH RECURSIVE both_ways AS (
  SELECT left_id AS record_id, right_id AS other_id FROM links
  UNION
  SELECT right_id, left_id FROM links
), reached AS (
  SELECT record_id, record_id AS least_id FROM persons
  UNION
  SELECT w.record_id, r.least_id FROM reached AS r JOIN both_ways AS w ON w.other_id = r.record_id WHERE r.least_id < w.record_id
)
SELECT p.record_id, min(r.least_id) AS predicted_cluster, any_value(p.true_cluster) AS true_cluster
FROM persons AS p
JOIN reached AS r USING (record_id)
GROUP BY p.record_id;
