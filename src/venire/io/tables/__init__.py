"""Tables of judgments: CSV, TSV, JSONL, Parquet and data frames into Rows, and Judgments into tables.

The *long* form has a row per label and columns topic, doc, label and, where there are several assessors, assessor.
Columns are recognised by the names they usually have (``columns.ROLES``); intent, aspect, given, unit, task and time
are read where they occur.  The *wide* form has a row per topic and document and a column per assessor; an empty cell
means not judged.  There every column is an assessor, except topic and doc and those named exactly intent, aspect,
given, unit, task or time.  Wide by aspects: topic, doc, perhaps assessor, and a column per aspect.

``columns`` finds which column is what and which layout a table has; ``blocks`` reads files and frames block by block,
with ``delimited`` for CSV and TSV and ``json_lines`` for JSONL; ``cells`` turns cells into text and text into codes;
``rows`` puts all together; ``write`` writes.
"""
