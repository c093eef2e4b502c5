"""A small memory with something for every screen, as agents would have left it."""

from __future__ import annotations

from network.exploring import Api

__all__ = ["fill"]

_ENTITIES = {
    "auth-service": ("service", "Issues JWT tokens with a lifetime of one hour.", ["auth", "backend"]),
    "billing-service": ("service", "Charges cards at the end of each month through Stripe.", ["billing", "backend"]),
    "web-app": ("app", "The shop that customers see; written in TypeScript.", ["frontend"]),
    "postgres-main": ("database", "PostgreSQL 16, two replicas in Seoul and Frankfurt.", ["storage"]),
    "Kim Minji": ("person", "김민지는 결제 팀의 개발자이며 서울에서 일한다.", ["team"]),
    "Ada Park": ("person", "Leads the platform team; prefers written proposals.", ["team"]),
    "release-42": ("release", "Went out on 2 March with the new checkout.", ["release"]),
}
_RELATIONS = [
    ("web-app", "auth-service", "uses"), ("web-app", "billing-service", "uses"),
    ("auth-service", "postgres-main", "stores_in"), ("billing-service", "postgres-main", "stores_in"),
    ("Kim Minji", "billing-service", "maintains"), ("Ada Park", "auth-service", "maintains"),
    ("release-42", "web-app", "contains"), ("Ada Park", "Kim Minji", "works_with"),
]  # fmt: skip
_NOTES = [
    ("The checkout page must answer within 300 ms at the 95th percentile.", "decision", "work/shop/checkout"),
    ("Refunds above 500 € need a second pair of eyes.", "rule", "work/billing"),
    ("배포는 매주 화요일 오전 10시에 한다.", "rule", "work/releases"),
    ("Which region should the new replica be in?", "question", "work/storage"),
    ("The deploy server listens on port 8080.", "fact", "work/releases"),
    ("The deploy server listens on port 9090.", "fact", "work/releases"),
]


def fill(api: Api, project: str) -> dict[str, str]:
    """Fill a project; answers the ids of its entities by name."""
    ids = {
        name: str(api("store", text=text, name=name, kind=kind, tags=tags, project=project)["memory"]["id"])
        for name, (kind, text, tags) in _ENTITIES.items()
    }
    for source, target, type in _RELATIONS:
        api("relate", from_=source, to=target, type=type, project=project)
    for text, kind, scope in _NOTES:
        api("store", text=text, kind=kind, scope=scope, project=project)
    signed = "Tokens are signed with EdDSA since March, see https://example.org/keys for how."
    api("edit", id="auth-service", add=[signed], project=project)
    api("edit", id="auth-service", tags=["auth", "backend", "security"], project=project)
    for name in ("retry-policy", "retries"):
        api(
            "store",
            text="Failed calls are repeated three times, each after twice the wait.",
            name=name,
            project=project,
        )
    api("store", text="The shop moved to the new payment form.", name="old-form", project=project)
    api("edit", id="old-form", superseded_by=ids["release-42"], project=project)
    taken_back = api("edit", id="web-app", tags=["frontend", "shop"], project=project)["changes"]
    api("undo", changes=taken_back, project=project)
    return ids
