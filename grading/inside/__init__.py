"""What runs inside the sandbox, and the border, which both sides speak."""
