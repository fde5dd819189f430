"""Who computes an attention: kinds of one `Engine`, and the function that chooses among them."""
