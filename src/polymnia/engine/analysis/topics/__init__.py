"""Topics: what the contents of a project are about, in groups that were not given."""

from __future__ import annotations

from polymnia.engine.analysis.topics.clustering import Clustering, cluster
from polymnia.engine.analysis.topics.confidence import confidence
from polymnia.engine.analysis.topics.finding import topic_clusters
from polymnia.engine.analysis.topics.naming import telling_terms

__all__ = ["Clustering", "cluster", "confidence", "telling_terms", "topic_clusters"]
