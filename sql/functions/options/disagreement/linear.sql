-- disagreement: number of steps between the classes in their order.
CREATE MACRO disagreement(label_number, predicted_number) AS ABS(1e0 * label_number - predicted_number) -- as doubles: DataFusion numbers rows by unsigned integers
