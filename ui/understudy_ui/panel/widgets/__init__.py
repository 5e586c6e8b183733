"""What is seen: thin widgets that show the model and hand it what a hand did."""
