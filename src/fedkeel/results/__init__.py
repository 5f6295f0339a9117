"""What runs left behind, read again: statistics, tables, figures and the report page.

Nothing here trains anything: folders are read, numbers are compared, and text, SVG and HTML are
written. Neither torch nor an engine is imported.
"""

from __future__ import annotations


class Refused(RuntimeError):
    """A comparison that would not be one; the message is one line and says why."""
