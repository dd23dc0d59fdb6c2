-- Two rules that link the records of one person: the same date of birth, or the same social security number.
SELECT
  'birthday' AS rule,
  trim(rec_id) AS record_id,
  nullif(trim(date_of_birth), '') AS predicted_cluster,
  regexp_extract(rec_id, '\d+') AS true_cluster
FROM read_csv('examples/data/febrl/persons.csv', all_varchar = true, normalize_names = true)
UNION ALL
SELECT
  'social security' AS rule,
  trim(rec_id) AS record_id,
  nullif(trim(soc_sec_id), '') AS predicted_cluster,
  regexp_extract(rec_id, '\d+') AS true_cluster
FROM read_csv('examples/data/febrl/persons.csv', all_varchar = true, normalize_names = true)
