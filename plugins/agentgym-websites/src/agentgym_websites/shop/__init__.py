"""The shop, and the admin pages behind it."""
