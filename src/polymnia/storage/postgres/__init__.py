"""The store for teams: one schema of a PostgreSQL database, many processes on many machines."""

from polymnia.storage.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
