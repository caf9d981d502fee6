from venire.simulation.context.collection import (
    ContextCollection as ContextCollection,
    generate_context as generate_context,
)
from venire.simulation.context.setting import (
    AspectModel as AspectModel,
    ClickModel as ClickModel,
    ContextSetting as ContextSetting,
    Engine as Engine,
)
from venire.simulation.folders import write_collection as write_collection
from venire.simulation.levels import Collection as Collection, Synthetic as Synthetic, generate as generate
from venire.simulation.perceived import (
    PerceivedRelevance as PerceivedRelevance,
    generate_perceived as generate_perceived,
)
