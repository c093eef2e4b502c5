"""The graph in the page: drawn, expanded by a click, filtered, in communities, and saved as a file."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from network.exploring import Api
from network.served import eventually

from .browsing import Tab, expect
from .sample import fill

_LABELS = """() => {
  // Where labels were drawn: their ink is on a canvas of its own, each beside its node.
  const canvas = document.querySelector(".sigma-labels");
  const { width, height } = canvas;
  const ink = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const found = [];
  for (let y = 0; y < height; y += 2) for (let x = 0; x < width; x += 2) {
    if (!ink[(y * width + x) * 4 + 3]) continue;
    const near = found.find(one => x > one.left - 40 && x < one.right + 40 && Math.abs(y - one.bottom) < 16);
    if (!near) found.push({ left: x, right: x, top: y, bottom: y });
    else {
      near.left = Math.min(near.left, x);
      near.right = Math.max(near.right, x);
      near.bottom = Math.max(near.bottom, y);
    }
  }
  const box = canvas.getBoundingClientRect();
  return found.map(one => [box.left + one.left, box.top + (one.top + one.bottom) / 2]);
}"""


@pytest.fixture(scope="module")
def filled(api: Api) -> dict[str, str]:
    """A project to draw."""
    return fill(api, "shop")


def drawn(tab: Tab, nodes: int) -> None:
    """Wait until so many nodes have found their places."""
    expect(tab.page.locator(f".canvas[data-moving=false][data-nodes='{nodes}']")).to_be_visible()


@pytest.mark.promise("api.page.graph")
def test_a_click_on_a_node_brings_its_neighbours(here: Tab, api: Api, project: str) -> None:
    names = ["start", "hub", "one", "two", "three"]
    for name in names:
        api("store", text=f"The node {name}.", name=name, project=project)
    for source, target in (("start", "hub"), ("hub", "one"), ("hub", "two"), ("one", "three")):
        api("relate", from_=source, to=target, type="leads_to", project=project)
    here.go("graph", project=project, at="start")
    drawn(here, 2)
    places = eventually(lambda: len(found := here.page.evaluate(_LABELS)) == 2 and found, "two labels")
    hub = here.page.locator(".chosen-node h2", has_text="hub")

    def chosen() -> bool:
        for x, y in places:
            here.page.mouse.click(x - 8, y)
            if hub.count():
                return True
        return False

    eventually(chosen, "the node is chosen by a click")
    expect(here.page.locator(".chosen-node h2")).to_have_text("hub")
    drawn(here, 4)
    expect(here.page.locator(".canvas-state")).to_contain_text("4 memories, 3 relations")
    here.button("one", here.page.locator(".chosen-node")).click()  # the same by the keyboard: its list of neighbours
    drawn(here, 5)
    here.picture("graph expanded")
    here.link("Open").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("one")


def test_a_neighbourhood_has_as_many_steps_as_are_asked_for(here: Tab, filled: dict[str, str]) -> None:
    here.go("graph", project="shop", at="release-42")
    drawn(here, 2)
    here.page.get_by_label("Steps").select_option("2")
    drawn(here, 4)
    here.page.get_by_role("combobox", name="Go to a memory").fill("Kim Minji")
    here.press("Enter")
    expect(here.page.locator(".canvas")).to_have_attribute("data-nodes", re.compile("^[3-9]$"))
    assert "at=Kim" in here.address


@pytest.mark.promise("api.page.graph")
def test_types_are_left_out_and_communities_are_lit(here: Tab, filled: dict[str, str]) -> None:
    here.go("graph", project="shop")
    here.tab("Whole project")
    drawn(here, 16)
    before = here.page.locator(".canvas-frame").screenshot(animations="disabled")
    here.page.get_by_label("uses").uncheck()
    expect(here.page).to_have_url(re.compile("hide=uses"))
    here.page.mouse.move(0, 0)
    assert here.page.locator(".canvas-frame").screenshot(animations="disabled") != before
    community = here.page.locator(".graph-side section", has_text="Communities").get_by_role("button").first
    community.click()
    expect(community).to_have_attribute("aria-pressed", "true")
    here.picture("graph community")
    here.button("Zoom in").click()
    here.button("Zoom out").click()
    here.button("Show all").click()
    here.button("Arrange again").click()
    drawn(here, 16)


def saved(tab: Tab, name: str) -> bytes:
    """A file the page lets one download."""
    with tab.page.expect_download() as told:
        tab.button(name).click()
    assert told.value.suggested_filename == f"shop.{name.lower()}"
    return Path(told.value.path()).read_bytes()


@pytest.mark.promise("api.page.graph")
def test_the_graph_is_saved_as_a_picture_a_drawing_and_data(here: Tab, filled: dict[str, str]) -> None:
    here.go("graph", project="shop", whole="1")
    drawn(here, 16)
    picture = saved(here, "PNG")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(picture) > 5_000
    drawing = ElementTree.fromstring(saved(here, "SVG"))
    words = {one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"auth-service", "Kim Minji"} <= words
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))) == 16
    data = ElementTree.fromstring(saved(here, "GraphML"))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    labels = {one.get("id"): one.findtext(f"{space}data[@key='label']") for one in data.iter(f"{space}node")}
    edges = {
        (labels[one.get("source")], one.findtext(f"{space}data[@key='type']"), labels[one.get("target")])
        for one in data.iter(f"{space}edge")
    }
    assert ("web-app", "uses", "auth-service") in edges and len(labels) == 16
    assert "The checkout page must answer within 300 ms at the 95th percentile." in labels.values()  # whole, not cut


def test_a_project_of_five_thousand_is_drawn_and_moves(here: Tab, api: Api, project: str) -> None:
    lines = [f'{{"type":"entity","name":"node {n}","entityType":"t","observations":["x{n}"]}}' for n in range(5_200)]
    lines += [
        f'{{"type":"relation","from":"node {n}","to":"node {n // 3}","relationType":"part_of"}}'
        for n in range(1, 5_200)
    ]
    api("import", name="many.jsonl", data="\n".join(lines), project=project)
    here.go("graph", project=project, whole="1")
    expect(here.page.locator(".canvas[data-nodes='5000']")).to_be_visible()
    expect(here.page.locator(".canvas-state")).to_contain_text("of 5,200 memories")
    here.button("Stop arranging").click()
    here.button("Zoom in").click()
    for layer in ("edges", "labels", "hovers"):  # all of it is there again when it is still
        expect(here.page.locator(f".canvas:not(.moves) .sigma-{layer}")).to_be_visible()
    here.picture("graph of 5,000")


def test_the_graph_takes_the_colours_of_the_system_when_they_change(here: Tab, filled: dict[str, str]) -> None:
    here.page.emulate_media(color_scheme="light")
    here.go("graph", project="shop")
    swatch = here.page.locator(".swatch circle").first
    light = swatch.get_attribute("fill")
    assert light is not None
    here.page.emulate_media(color_scheme="dark")
    expect(swatch).not_to_have_attribute("fill", light)


@pytest.mark.promise("api.page.graph")
def test_a_graph_with_an_end_that_is_not_stored_is_saved_too(here: Tab, api: Api, project: str) -> None:
    api("store", text="Is here.", name="here", project=project)
    api("relate", from_="here", to="nowhere", type="near", project=project)
    here.go("graph", project=project)
    drawn(here, 2)
    expect(here.page.locator(".canvas-state")).to_have_text("2 memories, 1 relation")
    with here.page.expect_download() as told:
        here.button("GraphML").click()
    data = ElementTree.fromstring(Path(told.value.path()).read_bytes())
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert [one.text for one in data.iter(f"{space}data") if one.get("key") == "label"] == ["here", "nowhere"]
