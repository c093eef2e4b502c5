"""Quality: how good a content is, by eight sides, each from measures that can be named and quoted."""

from polymnia.engine.analysis.quality.analyzing import analyze
from polymnia.engine.analysis.quality.values import (
    DIMENSIONS,
    Compared,
    Dimension,
    Fault,
    Metric,
    Quality,
    Suggestion,
)

__all__ = ["DIMENSIONS", "Compared", "Dimension", "Fault", "Metric", "Quality", "Suggestion", "analyze"]
