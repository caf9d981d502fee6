from venire.spark.agreement import agreement as agreement, disagreement as disagreement
from venire.spark.clicks import clicks as clicks
from venire.spark.evaluate import evaluate as evaluate
from venire.spark.scan import scan as scan
