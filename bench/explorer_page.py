"""The explorer as a person has it: Debian's Chromium without a screen, which draws in software, at a server.

``first result`` is the time from the start of the navigation, or from the last key that was pressed, until hits are
in the page; a key stroke waits 90 ms for the next one before anything is asked. ``frames`` are those the browser makes
while the graph is dragged or zoomed by the mouse, and ``script ms`` is what the page itself computes for each of them:
with a graphics card the rest is not the processor's work.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

__all__ = ["measure"]

SECONDS = 4.0
_WATCH = """
window.seen = new Promise(done => new MutationObserver(() => {
  if (document.querySelector(".hits .hit-title, .results .empty")) done(performance.now());
}).observe(document, { childList: true, subtree: true }));
"""
_STROKE = """() => new Promise(done => {
  const results = document.querySelector(".results");
  document.querySelector("#query").addEventListener("keydown", event => {
    let asked = results.ariaBusy === "true";
    new MutationObserver((_, observer) => {
      const busy = results.ariaBusy === "true";
      if (asked && !busy) { observer.disconnect(); done(performance.now() - event.timeStamp) }
      asked ||= busy;
    }).observe(results, { attributes: true });
  }, { once: true });
})"""
_WITHIN = (
    """name => Promise.race([window[name], new Promise((_, failed) => setTimeout(failed, 30000, `no ${name}`))])"""
)
_COUNT = """() => {
  window.frameTimes = [];
  const next = at => { window.frameTimes.push(at); window.frame = requestAnimationFrame(next) };
  window.frame = requestAnimationFrame(next);
}"""


def measure(address: str, words: Callable[[int], str], times: int) -> dict[str, Any]:
    """What the page takes at a server: ``words`` makes up queries."""
    arguments = ["--enable-unsafe-swiftshader", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        return {
            "browser": f"Chromium {browser.version}, headless, drawn in software",
            "load": round(os.getloadavg()[0], 1),
            "first result ms": {
                "opened with a search": _summary([_opened(browser, address, words(2)) for _ in range(times)]),
                "key stroke": _summary(_strokes(browser, address, words, times)),
            },
            "graph of 5,000 nodes": _graph(browser, address),
        }


def _summary(measured: list[float]) -> dict[str, float]:
    kept = sorted(measured)
    return {"p50": round(median(kept), 1), "p95": round(kept[min(len(kept) - 1, int(len(kept) * 0.95))], 1)}


def _opened(browser: Browser, address: str, query: str) -> float:
    """From nothing: no file of the page is in a cache."""
    with browser.new_context() as context:
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.goto(f"{address}#/search?q={query.replace(' ', '+')}")
        return float(page.evaluate(_WITHIN, "seen"))


def _strokes(browser: Browser, address: str, words: Callable[[int], str], times: int) -> list[float]:
    measured = []
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(".hit")
        for _ in range(times):
            query = words(2)
            page.fill("#query", query[:-1])
            page.wait_for_timeout(150)  # it is asked for
            page.wait_for_selector(".results[aria-busy=false]")
            page.wait_for_timeout(1200)  # the second, better answer has come, too
            page.evaluate(f"() => {{ window.stroke = ({_STROKE})() }}")
            page.keyboard.press(query[-1])
            measured.append(float(page.evaluate(_WITHIN, "stroke")))
    return measured


def _graph(browser: Browser, address: str) -> dict[str, Any]:
    with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
        page = context.new_page()
        begun = time.perf_counter()
        page.goto(f"{address}#/graph?project=main&whole=1")
        page.wait_for_selector(".canvas[data-nodes='5000']", timeout=60_000)
        drawn = time.perf_counter() - begun
        page.wait_for_selector(".canvas[data-moving=false]", timeout=300_000)
        arranged = time.perf_counter() - begun
        box = page.locator(".canvas").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        profiler = context.new_cdp_session(page)
        profiler.send("Profiler.enable")
        page.mouse.move(x, y)
        still = _frames(page, profiler, lambda _: page.wait_for_timeout(10))
        page.mouse.down()
        dragged = _frames(
            page, profiler, lambda n: page.mouse.move(x + 150 * math.sin(n / 20), y + 100 * math.cos(n / 15))
        )
        page.mouse.up()
        zoomed = _frames(page, profiler, lambda n: page.mouse.wheel(0, 40 if n // 20 % 2 else -40))
        state = page.locator(".canvas-state").inner_text()
    return {
        "what": state,
        "drawn s": round(drawn, 2),
        "arranged s": round(arranged, 1),
        "still": still,
        "dragged": dragged,
        "zoomed": zoomed,
    }


def _frames(page: Page, profiler: CDPSession, act: Callable[[int], None]) -> dict[str, float]:
    """Frames a second while something is done again and again, and what the page computes for each."""
    profiler.send("Profiler.start")
    page.evaluate(_COUNT)
    end, count = time.perf_counter() + SECONDS, 0
    while time.perf_counter() < end:
        act(count)
        count += 1
    frames = page.evaluate("() => { cancelAnimationFrame(window.frame); return window.frameTimes }")
    profile = profiler.send("Profiler.stop")["profile"]
    names = {one["id"]: one["callFrame"]["functionName"] for one in profile["nodes"]}
    busy = sum(
        spent
        for node, spent in zip(profile["samples"], profile["timeDeltas"], strict=True)
        if names[node] not in ("(program)", "(idle)", "(root)")
    )
    made = len(frames) - 1
    return {
        "frames a second": round(made / (frames[-1] - frames[0]) * 1000, 1),
        "script ms a frame": round(busy / 1000 / made, 2),
    }
