from venire.certification.agreement import (
    ReferenceAgreement as ReferenceAgreement,
    reference_agreement as reference_agreement,
)
from venire.certification.alt_test import AltTest as AltTest, alt_test as alt_test
from venire.certification.binding import check_certificate as check_certificate, read_certificate as read_certificate
from venire.certification.certificate import Certificate as Certificate, JudgeCertificate as JudgeCertificate
from venire.certification.claims import Claim as Claim, Criteria as Criteria
from venire.certification.order import OrderAgreement as OrderAgreement
