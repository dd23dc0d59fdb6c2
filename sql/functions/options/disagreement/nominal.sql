-- disagreement: 1 if the classes differ, else 0.
CREATE MACRO disagreement(label_number, predicted_number) AS CASE WHEN label_number = predicted_number THEN 0 ELSE 1 END
