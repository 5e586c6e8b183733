"""Sources: ways to name pairs. Each turns files, a timeline or a script into pairs, none of them read yet."""
