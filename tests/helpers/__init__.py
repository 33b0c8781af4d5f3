"""What several test files share; the name of each module says what it helps with."""
