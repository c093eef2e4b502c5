"""Search as a client of `strict` meets it: words and meaning, in any language, with the model every install has."""

from __future__ import annotations

import json

import pytest

from form import each
from stdio_client import Place, Reply, Server, entity

WITH_MEANING = {"POLYMNIA_EMBEDDER": None}  # the default, whatever else tests prefer

MEMORIES = [
    entity("Ann", "Drinks green tea every morning", "Works at the harbour since 2021", type="person"),
    entity("Bob", "Plays the guitar in a band", "Is married to Carol", type="person"),
    entity("Dana", "Is a doctor at the children's hospital", "Goes to work by bicycle", type="person"),
    entity("서울", "서울은 대한민국의 수도이다", "한강이 도시를 가로지른다", type="도시"),
    entity("부산", "부산은 바다와 항구로 유명하다", type="도시"),
    entity("회의록", "다음 회의는 금요일 오후 세 시에 시작한다", type="메모"),
    entity("北京", "北京是中华人民共和国的首都", type="城市"),
    entity("上海", "上海有世界上最繁忙的集装箱港口", type="城市"),
    entity("早餐", "他每天早上喝豆浆吃油条", type="笔记"),
    entity("Haus am Hafen", "Die Häuser am Hafen wurden im Mai 2023 gestrichen", type="Notiz"),
    entity("Rechnung", "Die Rechnung muss bis Ende des Monats bezahlt werden", type="Notiz"),
    entity("Urlaub", "Wir fahren im Sommer mit dem Zug nach Italien", type="Notiz"),
    entity("ADR-016", "We keep vectors beside the texts rather than in a service of their own", type="decision"),
    entity("ADR-017", "Every release is signed", type="decision"),
    entity("user-profile-feature", "Shows the avatar and the settings of an account", type="feature"),
    entity("account page", "The function getUserName reads src/app/main.py at start", type="code"),
    entity("release", "Shipped as v1.2.3 after the fix of the login", type="event"),
    entity("next release", "Will be called v1.3.0", type="event"),
    entity("garden", "Roses need water twice a week", type="place"),
    entity("query language", 'People type "foo" AND (bar* OR NEAR/3 and mean it', type="note"),
]


def names(reply: Reply) -> list[str]:
    return [node["name"] for node in reply.value["nodes"]]


def notes(reply: Reply) -> dict[str, str]:
    return {note["code"]: note["text"] for note in reply.notes}


@pytest.fixture(scope="module")
def full(module_place: Place) -> Server:
    """A server with memories in four languages that has had the time to read them."""
    server = module_place.serve("strict", environment=WITH_MEANING)
    server.call("create_entities", entities=MEMORIES)
    server.call("search_nodes", query="anything")
    return server


@pytest.mark.promise("search.questions")
@each(
    ("question", "answer"),
    [
        ("What does Ann drink?", "Ann"),
        ("who plays an instrument", "Bob"),
        ("which of my friends is a physician?", "Dana"),
        ("한국의 수도는 어디인가요?", "서울"),
        ("회의가 언제 시작하나요", "회의록"),
        ("부산은 무엇으로 유명한가요?", "부산"),
        ("中国的首都是哪里？", "北京"),
        ("他早饭吃什么", "早餐"),
        ("最忙的港口在哪个城市", "上海"),
        ("Wann wurden die Häuser gestrichen?", "Haus am Hafen"),
        ("Bis wann müssen wir zahlen?", "Rechnung"),
        ("Wohin geht die Reise in den Ferien?", "Urlaub"),
    ],
)
def test_a_question_in_plain_words_finds_its_answer(full: Server, question: str, answer: str) -> None:
    assert names(full.call("search_nodes", query=question, limit=3))[0] == answer


@pytest.mark.promise("search.across_languages")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is the capital of China", "北京"),
        ("the capital of South Korea", "서울"),
        ("what time does the meeting begin", "회의록"),
        ("기타를 치는 사람", "Bob"),
        ("die Hauptstadt von China", "北京"),
    ],
)
def test_a_question_finds_its_answer_in_another_language(full: Server, question: str, answer: str) -> None:
    assert names(full.call("search_nodes", query=question, limit=3))[0] == answer


@pytest.mark.promise("search.identifiers")
@each(
    ("query", "first"),
    [
        ("ADR-016", "ADR-016"),
        ("adr 016", "ADR-016"),
        ("adr016", "ADR-016"),
        ("getUserName", "account page"),
        ("get user name", "account page"),
        ("username", "account page"),
        ("user-profile-feature", "user-profile-feature"),
        ("user profile", "user-profile-feature"),
        ("v1.2.3", "release"),
        ("1.2.3", "release"),
        ("src/app/main.py", "account page"),
        ("main.py", "account page"),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(full: Server, query: str, first: str) -> None:
    assert names(full.call("search_nodes", query=query))[0] == first


@pytest.mark.promise("search.typos")
@pytest.mark.parametrize(("query", "first"), [("guitra", "Bob"), ("harbuor", "Ann"), ("Rechnnug", "Rechnung")])
def test_a_misspelt_word_finds_the_right_one_and_the_answer_says_so(full: Server, query: str, first: str) -> None:
    reply = full.call("search_nodes", query=query)

    assert names(reply)[0] == first
    assert repr(query) in notes(reply)["alike"]


@pytest.mark.promise("search.exact_first")
@pytest.mark.parametrize(
    ("query", "holding"),
    [("the", {"Ann", "Bob", "Dana", "ADR-016", "account page", "user-profile-feature", "release"}),
     ("수도", {"서울"}), ("港", {"上海"}), ("äuse", {"Haus am Hafen"}), ("ADR-", {"ADR-016", "ADR-017"})],
)  # fmt: skip
def test_whatever_contains_the_query_stands_before_everything_else(full: Server, query: str, holding: set[str]) -> None:
    found = names(full.call("search_nodes", query=query))

    assert set(found[: len(holding)]) == holding


@pytest.mark.promise("search.literal")
@pytest.mark.parametrize("query", ['"foo" AND (bar* OR NEAR/3', "(bar*", "bar*", "NEAR/3", '" AND ', "NEAR("])
def test_nothing_in_a_query_is_syntax(full: Server, query: str) -> None:
    found = names(full.call("search_nodes", query=query))

    assert found[0] == "query language"


@pytest.mark.promise("search.literal")
@pytest.mark.parametrize("query", ["-guitar", "NOT guitar", "^guitar", "name:guitar", "guitar; DROP TABLE memory; --"])
def test_signs_around_a_word_neither_exclude_nor_hide_it(full: Server, query: str) -> None:
    assert "Bob" in names(full.call("search_nodes", query=query))


@pytest.mark.promise("search.any_query")
@each(
    "query",
    [
        "",
        "   ",
        "the of and",
        "은 는 이 가",
        "der die das",
        "🎉",
        "👩‍👩‍👧",
        "?",
        "\n",
        "x" * 60_000,
        "long words " * 5_000,
    ],
)
def test_any_query_is_answered(full: Server, query: str) -> None:
    reply = full.call("search_nodes", query=query, limit=5)

    assert not reply.failed
    assert len(names(reply)) <= 5


@pytest.mark.promise("search.miss")
def test_a_miss_names_the_nearest_things_there_are(full: Server) -> None:
    reply = full.call("search_nodes", query="qqqqzzzz xkcdwvut")

    assert names(reply) == []
    assert any(repr(memory["name"]) in notes(reply)["nearest"] for memory in MEMORIES)
    assert len(reply.result["content"]) == 1, "a note never stands where a client parses the answer"


@pytest.mark.promise("search.at_once")
def test_words_are_found_as_soon_as_a_write_is_answered(full: Server) -> None:
    for i in range(20):
        full.call("create_entities", entities=[entity(f"passing {i}", f"the heliotrope{i} blooms")])
        assert names(full.call("search_nodes", query=f"heliotrope{i}"))[0] == f"passing {i}"
        full.call("delete_entities", entityNames=[f"passing {i}"])
        assert f"passing {i}" not in names(full.call("search_nodes", query=f"heliotrope{i}"))


@pytest.mark.promise("search.meaning_soon")
def test_meaning_is_found_within_a_second_of_the_write(full: Server) -> None:
    full.call("create_entities", entities=[entity("new hobby", "She paints landscapes in oil on canvas")])

    # No search waits longer than a second for vectors, so the first answer has it or not.
    found = names(full.call("search_nodes", query="who is an artist making pictures"))

    full.call("delete_entities", entityNames=["new hobby"])
    assert found[0] == "new hobby"


@pytest.mark.promise("search.other_clients")
def test_what_another_client_writes_is_found_by_words_and_by_meaning(full: Server, module_place: Place) -> None:
    other = module_place.serve("simple")
    other.call("create_entities", entities=[entity("visitor", "The astronomer watched the planets all night")])

    by_words = names(full.call("search_nodes", query="astronomer"))
    by_meaning = names(full.call("search_nodes", query="observing stars and planets"))
    other.call("delete_entities", entityNames=["visitor"])

    assert by_words[0] == "visitor"
    assert by_meaning[0] == "visitor"
    assert "visitor" not in names(full.call("search_nodes", query="astronomer"))


@pytest.mark.promise("search.pages")
def test_pages_stay_as_they_were_while_another_client_writes(place: Place) -> None:
    reader, writer = place.serve("strict"), place.serve("strict")
    reader.call(
        "create_entities", entities=[entity(f"note {i:02}", f"apples are kept with pears {i}") for i in range(30)]
    )
    whole = names(reader.call("search_nodes", query="pears apples", limit=30))

    first = reader.call("search_nodes", query="pears apples", limit=10)
    walked, cursor = names(first), first.value["nextCursor"]
    while cursor:
        writer.call("create_entities", entities=[entity(f"better {len(walked)}", "pears apples pears apples")])
        page = reader.call("search_nodes", query="pears apples", limit=10, cursor=cursor)
        walked += names(page)
        cursor = page.value.get("nextCursor")

    assert walked == whole
    assert len(set(walked)) == 30


@pytest.mark.promise("search.pages")
def test_a_cursor_is_good_for_another_server_too(place: Place) -> None:
    one = place.serve("strict")
    one.call("create_entities", entities=[entity(f"note {i:02}", f"apples and number{i}") for i in range(30)])
    first = one.call("search_nodes", query="apples", limit=10)
    one.close()

    rest = place.serve("strict").call("search_nodes", query="apples", limit=20, cursor=first.value["nextCursor"])

    assert len(set(names(first)) | set(names(rest))) == 30


@pytest.mark.promise("search.files")
def test_a_json_file_is_searched_with_what_others_wrote_into_it(place: Place) -> None:
    file = place.folder / "memory.json"
    server = place.serve("strict", "--file", str(file), environment={"POLYMNIA_STORE": None, **WITH_MEANING})
    server.call("create_entities", entities=MEMORIES[:3])
    assert names(server.call("search_nodes", query="who plays an instrument"))[0] == "Bob"

    document = json.loads(file.read_text())
    document["entities"].append(entity("Eve", "Sails a boat across the lake"))
    file.write_text(json.dumps(document))

    assert names(server.call("search_nodes", query="boat"))[0] == "Eve"
    assert names(server.call("search_nodes", query="somebody on a ship on the water"))[0] == "Eve"


@pytest.mark.promise("search.broken_model")
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (["--embedder", "onnx:nowhere"], "nowhere"),
        (["--embedder", "ollama:none", "--embedder-url", "http://127.0.0.1:9"], "127.0.0.1:9"),
    ],
    ids=["no folder", "no server"],
)
def test_a_broken_model_leaves_the_words_and_says_what_to_do(place: Place, settings: list[str], why: str) -> None:
    server = place.serve("strict", *settings)
    server.call("create_entities", entities=MEMORIES)

    reply = server.call("search_nodes", query="green tea")

    assert names(reply)[0] == "Ann"
    assert "words alone" in notes(reply)["no_meaning"]
    assert why in notes(reply)["no_meaning"]
    assert len(server.names()) == len(MEMORIES)


@pytest.mark.long
@pytest.mark.promise("search.broken_model")
def test_vectors_that_a_broken_model_could_not_make_are_made_by_the_next_one(place: Place) -> None:
    broken = place.serve("strict", "--embedder", "onnx:nowhere")
    broken.call("create_entities", entities=MEMORIES)
    broken.close()

    mended = place.serve("strict", environment=WITH_MEANING)

    assert names(mended.call("search_nodes", query="the capital of South Korea"))[0] == "서울"


@pytest.mark.promise("search.no_model")
def test_without_a_model_search_goes_by_words_without_complaint(place: Place) -> None:
    server = place.serve("strict", "--embedder", "none")
    server.call("create_entities", entities=MEMORIES)

    reply = server.call("search_nodes", query="who drinks tea")

    assert names(reply) == ["Ann"]
    assert notes(reply) == {}


@pytest.mark.promise("search.lanes")
def test_with_the_lane_of_words_alone_meaning_finds_nothing(place: Place) -> None:
    server = place.serve("strict", "--lanes", "words", environment=WITH_MEANING)
    server.call("create_entities", entities=MEMORIES)

    assert names(server.call("search_nodes", query="green tea")) == ["Ann"]
    assert "서울" not in names(server.call("search_nodes", query="capital of South Korea"))


@pytest.mark.promise("search.handshake")
def test_no_client_waits_for_a_model_before_it_searches(place: Place) -> None:
    server = place.serve("strict", environment=WITH_MEANING)
    server.tools()
    server.call("create_entities", entities=MEMORIES[:1])
    server.graph()
    server.close_input()

    assert server.exit_code() == 0


@pytest.mark.promise("search.other_dialects")
@pytest.mark.parametrize("dialect", ["simple", "bilingual", "official"])
def test_the_other_dialects_search_as_their_seeds_do(server: Server) -> None:
    server.call("create_entities", entities=MEMORIES)

    reply = server.call("search_nodes", query="What does Ann drink?")

    found = reply.value if isinstance(reply.value, list) else reply.value["entities"]
    assert found == []
    assert len(reply.result["content"]) == 1
