"""Which of several systems is better, and whether one may ship, from what each unit says of both."""
