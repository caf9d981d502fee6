from venire.certification.alt_test import AltTest as AltTest, alt_test as alt_test
