"""Integrity: six checks that read the store as it lies, and mending that loses nothing."""

from __future__ import annotations

from polymnia.engine.integrity.report import Finding, Looked, Report
from polymnia.engine.integrity.rules import CHECKS, RULES, Check, Rule, Severity
from polymnia.engine.integrity.validating import validate

__all__ = ["CHECKS", "RULES", "Check", "Finding", "Looked", "Report", "Rule", "Severity", "validate"]
