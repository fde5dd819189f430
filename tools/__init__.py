"""The small scripts behind the make targets."""
