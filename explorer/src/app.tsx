import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { about, api, hasKey, locked, setKey, takeKey } from "./api/client";
import { chooseLanguage, chooseTheme, language, remember, remembered, theme } from "./choices";
import { go, href, useRoute, type Route, type Screen } from "./route";
import { GraphScreen } from "./screens/graph";
import { HealthScreen } from "./screens/health";
import { MemoryScreen } from "./screens/memory";
import { NewMemory } from "./screens/new-memory";
import { ReviewScreen } from "./screens/review";
import { ScopesScreen } from "./screens/scopes";
import { SearchScreen } from "./screens/search";
import { TimelineScreen } from "./screens/timeline";
import { TransferScreen } from "./screens/transfer";
import { Icon, Mark, type IconName } from "./ui/icons";
import { Button, Dialog, Failed, Field, Notes, Select, Skeleton } from "./ui/parts";
import { letter } from "./ui/keys";
import { t } from "./words";

const NAVIGATION = ["search", "timeline", "graph", "review", "scopes", "transfer", "health"] as const satisfies readonly (Screen & IconName)[];

export function App(): JSX.Element {
  const route = useRoute();
  const now = about.use();
  const lock = locked.use();
  language.use();
  const [problem, fail] = useState<unknown>(null);
  const [turn, again] = useState(0);
  const [adding, add] = useState(false);
  const [shortcuts, showShortcuts] = useState(false);

  useEffect(() => {
    fail(null);
    api.about().then((told) => {
      locked.set("open");
      about.set(told);
    }, fail);
  }, [turn]);
  // A link with a key may be opened where the page already is: before anything reads the address.
  useEffect(() => {
    const heard = () => {
      if (!takeKey()) return;
      about.set(null);
      locked.set("open");
      again((at) => at + 1);
    };
    addEventListener("hashchange", heard, { capture: true });
    return () => removeEventListener("hashchange", heard, { capture: true });
  }, []);

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, [contenteditable], dialog");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") {
        event.preventDefault();
        if (route.screen !== "search") go(href("search", { project: route.given["project"] }));
        requestAnimationFrame(() => document.querySelector<HTMLInputElement>("#query")?.select());
      } else if (event.key === "?") showShortcuts(true);
      else if (event.key === "Escape" && route.screen === "memory" && !event.defaultPrevented) {
        if (came.current) history.back();
        else go(href("search", { project: route.given["project"] }));
      }
      else if (letter(event) === "n" && about.value?.access.write) {
        event.preventDefault();
        add(true);
      } else if (/^[1-7]$/.test(event.key)) go(href(NAVIGATION[Number(event.key) - 1]!, { project: route.given["project"] }));
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [route]);

  // A new screen begins at its top, and with it the keyboard and the reader of the screen.
  const shown = route.screen === "memory" ? `${route.given["project"]}/${route.target}` : route.screen;
  const before = useRef(shown);
  const came = useRef(false);
  useLayoutEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    came.current = true;
    scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [shown]);

  if (lock !== "open") return <KeyWanted refused={lock === "refused"} done={() => again((at) => at + 1)} />;
  if (problem)
    return (
      <main class="alone">
        <div>
          <Failed problem={problem} again={() => again((at) => at + 1)} />
          {hasKey() && <p class="more"><Button icon="key" onClick={leaveKey}>{t("key.other")}</Button></p>}
        </div>
      </main>
    );
  if (!now) return <main class="alone"><Skeleton lines={3} /></main>;

  return (
    <div class="app">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
        {t("nav.skip")}
      </a>
      <header class="side">
        <a class="brand" href={href("search")}>
          <Mark />
          <span>Polymnia</span>
        </a>
        <ProjectSwitch route={route} projects={now.projects} />
        {now.access.write && (
          <Button icon="plus" kind="main" onClick={() => add(true)}>
            {t("memory.new")}
          </Button>
        )}
        <nav aria-label={t("nav.screens")}>
          {NAVIGATION.map((screen) => (
            <a
              key={screen}
              href={href(screen, { project: route.given["project"] })}
              aria-current={route.screen === screen || (screen === "search" && route.screen === "memory") ? "page" : undefined}
            >
              <Icon name={screen} />
              {screen === "transfer" ? (
                <>
                  <span class="only-wide">{t("nav.transfer")}</span>
                  <span class="only-narrow">{t("nav.transfer.short")}</span>
                </>
              ) : (
                <span>{t(`nav.${screen}`)}</span>
              )}
            </a>
          ))}
        </nav>
        <Preferences showShortcuts={() => showShortcuts(true)} />
      </header>
      <main id="main" tabIndex={-1}>
        <Screens key={shown} route={route} />
      </main>
      <Notes />
      {adding && <NewMemory project={projectOf(route)} onClose={() => add(false)} />}
      {shortcuts && <Shortcuts onClose={() => showShortcuts(false)} />}
    </div>
  );
}

function leaveKey(): void {
  setKey(null);
  about.set(null);
  locked.set("wanted");
}

function Screens({ route }: { route: Route }): JSX.Element {
  switch (route.screen) {
    case "search":
      return <SearchScreen route={route} />;
    case "memory":
      return <MemoryScreen route={route} />;
    case "timeline":
      return <TimelineScreen route={route} project={projectOf(route)} />;
    case "graph":
      return <GraphScreen route={route} project={projectOf(route)} />;
    case "review":
      return <ReviewScreen route={route} project={projectOf(route)} />;
    case "scopes":
      return <ScopesScreen route={route} />;
    case "transfer":
      return <TransferScreen project={projectOf(route)} />;
    case "health":
      return <HealthScreen project={route.given["project"]} />;
  }
}

/** The project a screen about one project is about. */
export function projectOf(route: Route): string {
  const now = about.value;
  const known = (name: string | null | undefined) => (name && now?.projects.includes(name) ? name : null);
  return route.given["project"] ?? known(remembered("project")) ?? now?.project ?? now?.projects[0] ?? "default";
}

function ProjectSwitch({ route, projects }: { route: Route; projects: readonly string[] }): JSX.Element {
  const everywhere = route.screen === "search" || (route.screen === "timeline" && route.given["tab"] !== "compare") || route.screen === "memory" || route.screen === "scopes" || route.screen === "health";
  const chosen = route.given["project"] ?? (everywhere ? "" : projectOf(route));
  const names = chosen && !projects.includes(chosen) ? [chosen, ...projects] : projects;
  /** Of projects that were made since, before one is chosen. */
  const learn = () => void api.about().then((now) => about.value && about.set(now), () => undefined);
  return (
    <div class="project" onPointerEnter={learn} onFocusCapture={learn}>
      <Select
        label={t("field.project")}
        hideLabel
        value={chosen}
        options={[...(everywhere ? [["", t("project.all")] as const] : []), ...names.map((name) => [name, name] as const)]}
        onChange={(project) => {
          if (project) remember("project", project);
          const { project: _, at: __, ...given } = route.given;
          go(href(route.screen === "memory" ? "search" : route.screen, { ...given, project }));
        }}
      />
    </div>
  );
}

function Preferences({ showShortcuts }: { showShortcuts: () => void }): JSX.Element {
  const chosen = theme.use();
  const now = about.use();
  const next = { system: "light", light: "dark", dark: "system" } as const;
  const icon = { system: "system", light: "sun", dark: "moon" } as const;
  return (
    <div class="preferences">
      <Button icon={icon[chosen]} kind="quiet" label={t("theme.switch", { now: t(`theme.${chosen}`) })} onClick={() => chooseTheme(next[chosen])} />
      <button
        type="button"
        class="button quiet"
        lang={language.value === "en" ? "ko" : "en"}
        onClick={() => chooseLanguage(language.value === "en" ? "ko" : "en")}
      >
        {language.value === "en" ? "한국어" : "English"}
      </button>
      <button type="button" class="button quiet square only-wide" aria-label={t("keyboard.title")} title={t("keyboard.title")} onClick={showShortcuts}>
        ?
      </button>
      {hasKey() && (
        <Button
          icon="key"
          kind="quiet"
          label={t("key.leave", { name: now?.user ?? "" })}
          onClick={leaveKey}
        />
      )}
      {now && !now.access.write && <span class="chip only-wide">{t("key.reads")}</span>}
    </div>
  );
}

function Shortcuts({ onClose }: { onClose: () => void }): JSX.Element {
  const keys = [
    ["/", t("keyboard.search")],
    ["↓ ↑", t("keyboard.results")],
    ["1 – 7", t("keyboard.screens")],
    ["N", t("keyboard.new")],
    ["E", t("keyboard.edit")],
    ["Esc", t("keyboard.escape")],
    ["?", t("keyboard.title")],
  ] as const;
  return (
    <Dialog title={t("keyboard.title")} onClose={onClose}>
      <dl class="shortcuts">
        {keys.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function KeyWanted({ refused, done }: { refused: boolean; done: () => void }): JSX.Element {
  const [key, type] = useState("");
  return (
    <main class="alone">
      <form
        class="card key-wanted"
        onSubmit={(event) => {
          event.preventDefault();
          if (!key.trim()) return;
          setKey(key.trim());
          locked.set("open");
          done();
        }}
      >
        <Mark size={44} />
        <h1>{t("key.title")}</h1>
        <p class="muted">{t("key.help")}</p>
        <Field label={t("key.label")}>
          {(id) => (
            <input
              id={id}
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={key}
              autofocus
              aria-invalid={refused || undefined}
              aria-describedby="key-state"
              onInput={(event) => type(event.currentTarget.value)}
            />
          )}
        </Field>
        <p id="key-state" role="status" class="bad-words">
          {refused ? t("key.refused") : ""}
        </p>
        <Button submit kind="main">
          {t("key.open")}
        </Button>
      </form>
    </main>
  );
}
