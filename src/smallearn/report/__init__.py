"""One page about a model: self-contained HTML that needs no network, with a panel to try inputs."""

from smallearn.report._page import report_html

__all__ = ["report_html"]
