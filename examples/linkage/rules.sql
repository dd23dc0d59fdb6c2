-- Two rules that link the records of one person: the same date of birth, or the same social security number.
SELECT
  rule,
  trim(rec_id) AS record_id,
  nullif(trim(shared_value), '') AS predicted_cluster,
  regexp_extract(rec_id, '\d+') AS true_cluster
FROM read_csv('examples/data/febrl/persons.csv', all_varchar = true, normalize_names = true)
CROSS JOIN LATERAL (VALUES ('birthday', date_of_birth), ('social security', soc_sec_id)) AS rules (rule, shared_value)
