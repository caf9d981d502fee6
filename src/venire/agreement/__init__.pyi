from venire.agreement.alpha import alpha as alpha
from venire.agreement.cohen import CohenKappa as CohenKappa, cohen_kappa as cohen_kappa
from venire.agreement.confusion import Confusions as Confusions, confusions as confusions
from venire.agreement.consistency import Consistency as Consistency, consistency as consistency
from venire.agreement.directed import DirectedAgreement as DirectedAgreement, directed_agreement as directed_agreement
from venire.agreement.intervals import Coefficient as Coefficient
from venire.agreement.kappa import (
    conger_kappa as conger_kappa,
    fleiss_kappa as fleiss_kappa,
    gwet_ac as gwet_ac,
    raw_agreement as raw_agreement,
)
from venire.agreement.overlap import Overlap as Overlap, jaccard as jaccard, overlap as overlap
from venire.agreement.phi import Phi as Phi, phi as phi
from venire.agreement.profiles import Profiles as Profiles, profiles as profiles
from venire.agreement.table import AgreementTable as AgreementTable, agreement_table as agreement_table
