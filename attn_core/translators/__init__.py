"""Small translators of English into Chinese, and the grammar that writes what they learn from."""
