from venire.judging.answers import (
    Answer as Answer,
    Given as Given,
    Lease as Lease,
    Receipt as Receipt,
    Standing as Standing,
    Stored as Stored,
)
from venire.judging.store import Store as Store
from venire.judging.study import (
    Aspect as Aspect,
    Assessor as Assessor,
    Defined as Defined,
    Document as Document,
    Order as Order,
    Study as Study,
    Topic as Topic,
)
from venire.judging.study_files import read_study as read_study
from venire.judging.tasks import Task as Task
