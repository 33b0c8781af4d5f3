"""How Sphinx builds the documentation: ``make docs``. Needs no network."""

import os
import re
import sys
from pathlib import Path

from sphinx.util.nodes import make_refnode

import smallearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

reference.write(HERE / "api")

project = "smallearn"
author = "The smallearn developers"
project_copyright = "The smallearn developers, BSD-3-Clause"
version = release = smallearn.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "_templates",
    "examples",
    "jupyter_execute",
    "gallery/*.ipynb",
    "gallery/*.json",
    "gallery/*.py",
]
templates_path = ["_templates"]
default_role = "autolink"  # a name in a docstring links to its page
highlight_language = "text"  # blocks that are only indented: output, shell
nitpicky = True
# Colours alone: the tests run the blocks, whatever Pygments knows of a dialect.
suppress_warnings = ["misc.highlighting_failure"]

# Pages in Markdown, which GitHub shows as well.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_execution_excludepatterns = ["gallery/*"]
nb_execution_in_temp = True
# Kernels say on stderr that their connection on this machine is not encrypted: only errors are of interest.
os.environ["IPYTHONDIR"] = str(HERE / "_build" / "ipython")
profile = HERE / "_build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
(profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", encoding="utf-8")

# The reference, from docstrings.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # names in single backticks in docstrings, parameters among them
    ("py:.*", r"(sklearn|numpy|pandas|scipy|matplotlib|dask|distributed|onnx)\..*"),
]

# The gallery, from docs/examples: each file runs anew if it has changed.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"/_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "copyfile_regex": r".*\.csv",
    "notebook_images": False,
    "backreferences_dir": "gallery/used",
    "doc_module": ("smallearn",),
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "smallearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "smallearn"},
    "header_links_before_dropdown": 8,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "article_header_start": ["breadcrumbs"],
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# For `make docs-links`, which needs the network.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False

EXAMPLE = re.compile(r"\]\((?:\.\./)*(?:docs/)?examples/(plot_\w+)\.py\)")
GALLERY = re.compile(r"\]\((?:\.\./)*(?:docs/)?examples/README\.txt\)")
PICTURE = re.compile(r"<!-- picture: examples/(plot_\w+)\.py: (.+?) -->")
ABOVE = re.compile(r"\]\((?:\.\./)+(ARCHITECTURE|CONTRIBUTING|CHANGELOG|SECURITY)\.md(#[\w-]+)?\)")


def on_the_site(app, docname: str, source: list[str]) -> None:
    """On GitHub a page links to an example's file and to the pages above ``docs``; here to their place on the site."""
    if Path(app.env.doc2path(docname)).suffix != ".md":
        return
    text = EXAMPLE.sub(r"](/gallery/\1.rst)", source[0])
    text = GALLERY.sub("](/gallery/index.rst)", text)
    text = PICTURE.sub(r"![\2](/gallery/images/sphx_glr_\1_001.png)", text)
    source[0] = ABOVE.sub(lambda found: f"](/develop/{found[1].lower()}.md{found[2] or ''})", text)


def by_short_name(app, env, node, content):
    """A name in backticks that one public name ends with: `SMaLLModel` and `SMaLLModel.edit` lead to their pages."""
    name = node.get("reftarget", "")
    domain = env.get_domain("py")
    if node.get("refdomain") != "py" or node.get("reftype") != "obj" or not name:
        return None
    found = sorted(full for full in domain.objects if full.endswith(f".{name}"))
    if not found or ("." not in name and len(found) > 1):
        return None
    page = domain.objects[found[0]]
    return make_refnode(app.builder, node["refdoc"], page.docname, page.node_id, content, found[0])


def is_left_out(app, what: str, name: str, thing, skip: bool, options) -> bool | None:
    """scikit-learn's methods for the routing of metadata: their text refers to pages that are not here."""
    return True if name.endswith("_request") or name == "get_metadata_routing" else None


def setup(app) -> None:
    """Connect the functions above; Sphinx calls this."""
    app.connect("source-read", on_the_site)
    app.connect("missing-reference", by_short_name)
    app.connect("autodoc-skip-member", is_left_out)
