"""Whether the tests pass, all groups of them and with other versions, and whether they notice."""
