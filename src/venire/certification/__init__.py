"""What a judge may be trusted with."""

from venire._lazy import lazy_names

lazy_names(__name__)
