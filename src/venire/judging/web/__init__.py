"""The web application in which people judge, and the organiser looks on."""
