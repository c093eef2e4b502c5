"""Giving clients this memory."""
