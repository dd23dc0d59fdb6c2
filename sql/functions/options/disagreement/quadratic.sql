-- disagreement: squared number of steps between the classes in their order.
CREATE MACRO disagreement(label_number, predicted_number) AS (label_number - predicted_number) * (label_number - predicted_number)
