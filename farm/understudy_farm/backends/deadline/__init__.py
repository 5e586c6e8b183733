"""deadline: Thinkbox Deadline 10, by its Web Service or by deadlinecommand."""
