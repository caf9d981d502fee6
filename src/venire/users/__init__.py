"""What people prefer and click, and which measure agrees with them."""
