"""What this machine has that a command needs: a browser, node, a promised Python; and its load."""
