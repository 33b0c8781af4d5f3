"""Internal: ``smallearn app``, a local page on which a table becomes a model.

`serve` starts and ends it. `guard` decides which requests are answered, `routes` answers them, and `session` holds the
tables and the models of one visit. Whatever takes time is a job: `jobs` runs it in a second process, in which `work`
reads, fits and compares. `exports` has what can be downloaded; ``page.html``, ``app.css`` and ``app.js`` are the page.
"""
