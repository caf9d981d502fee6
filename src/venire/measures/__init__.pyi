from venire.measures.cascade import ERR as ERR, RBP as RBP, RR as RR, RBPResidual as RBPResidual, nERR as nERR
from venire.measures.dcg import CCG as CCG, CG as CG, DCG as DCG, CCGsingle as CCGsingle, nCCG as nCCG, nDCG as nDCG
from venire.measures.intents import (
    AP_IA as AP_IA,
    ERR_IA as ERR_IA,
    NRBP as NRBP,
    P_IA as P_IA,
    AllScore as AllScore,
    D_nDCG as D_nDCG,
    Dsharp_nDCG as Dsharp_nDCG,
    StRecall as StRecall,
    VitalScore as VitalScore,
    WeightedScore as WeightedScore,
    alpha_DCG as alpha_DCG,
    alpha_nDCG as alpha_nDCG,
    nERR_IA as nERR_IA,
    nNRBP as nNRBP,
)
from venire.measures.measure import measure as measure
from venire.measures.precision import (
    AP as AP,
    GAP as GAP,
    Judged as Judged,
    P as P,
    Q as Q,
    R as R,
    Rprec as Rprec,
    Success as Success,
    bpref as bpref,
)
from venire.measures.random_users import UserScores as UserScores
from venire.measures.sampled import infAP as infAP, statAP as statAP
from venire.measures.scores import ContextUse as ContextUse
