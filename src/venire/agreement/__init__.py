"""How far assessors agree, with each other and with themselves."""

from venire._lazy import lazy_names

lazy_names(__name__)
