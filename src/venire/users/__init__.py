"""What people prefer and click, and which measure agrees with them."""

from venire._lazy import lazy_names

lazy_names(__name__)
