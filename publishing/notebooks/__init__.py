"""The book's notebooks, as they are stored: of the chapters, of their exercises, and in Chinese."""
