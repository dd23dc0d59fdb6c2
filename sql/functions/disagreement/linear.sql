-- disagreement: number of steps between the classes in their order.
CREATE MACRO disagreement(label_number, predicted_number) AS ABS(label_number - predicted_number)
