from venire.spark.evaluate import evaluate as evaluate
