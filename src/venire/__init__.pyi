from venire import (
    agreement as agreement,
    aspects as aspects,
    certification as certification,
    comparison as comparison,
    context as context,
    disagreement as disagreement,
    measures as measures,
    planning as planning,
    quality as quality,
    simulation as simulation,
    users as users,
)
from venire._version import __version__ as __version__
from venire.certification.certify import certify as certify
from venire.comparison.compare import compare as compare
from venire.data.aspects import Aspects as Aspects
from venire.data.clicks import Clicks as Clicks
from venire.data.gains import Gains as Gains, binary as binary, exponential as exponential, linear as linear
from venire.data.judgments import Judgments as Judgments
from venire.data.preferences import Preferences as Preferences
from venire.data.runs import Runs as Runs
from venire.data.scale import Scale as Scale
from venire.disagreement.gains import fit_gains as fit_gains
from venire.disagreement.predicted_relevance import PredictedRelevance as PredictedRelevance
from venire.errors import FormatError as FormatError, VenireError as VenireError, VenireWarning as VenireWarning
from venire.io.aspects import read_aspects as read_aspects
from venire.io.clicks import read_clicks as read_clicks
from venire.io.judgments import read_judgments as read_judgments, write_judgments as write_judgments
from venire.io.preferences import read_preferences as read_preferences
from venire.io.runs import read_runs as read_runs
from venire.measures.evaluate import evaluate as evaluate
from venire.measures.measure import Measure as Measure
from venire.measures.names import parse_measure as parse_measure
from venire.measures.random_users import evaluate_users as evaluate_users
from venire.measures.scores import Scores as Scores
from venire.planning.plan import plan as plan
from venire.quality.pdp import pdp as pdp
from venire.report.document import Report as Report
from venire.report.making import report_on as report_on
from venire.report.page import write_report as write_report
from venire.results import Estimate as Estimate
