from venire.data.aspects import aspects_of as aspects_of
from venire.data.context import Context as Context
from venire.data.gains import raw as raw
from venire.data.intents import explicit_intents as explicit_intents, top_intents as top_intents
from venire.data.judgments import Summary as Summary
from venire.data.runs import RunRules as RunRules
