"""Internal: files in and out.

``files`` checks, reads and writes single files; ``small_tables`` reads what users say of features or terms. ``tables``
opens a table; ``csv_tables`` and ``arrow_tables`` know the formats; ``cells`` says what a cell means. A loaded table
becomes rows for a model in ``model_rows``, and rows to train on in ``training`` (its features in ``feature_columns``);
both read classes with ``labels``. ``output`` writes tables.
"""
