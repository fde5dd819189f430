"""Grading on nbgrader's seams: student code runs in a sandbox, and scores are made outside it."""
