"""What makes the book: its translation, notebooks, site, paper and the origins of its numbers."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
