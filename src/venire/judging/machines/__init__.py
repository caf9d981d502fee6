"""Language models as assessors: prompts, replies, the client, and asking a whole study."""
