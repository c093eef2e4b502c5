import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { about, api } from "../api/client";
import type { Counted, Found, Hit, Part, Why } from "../api/types";
import { useRested, useTitle } from "../ask";
import { go, href, place, read, type Route } from "../route";
import { Icon } from "../ui/icons";
import { Button, Chip, complain, copy, Empty, Failed, Select, Skeleton } from "../ui/parts";
import { Name, Piece } from "../ui/stored";
import { Ago, dayBegins, dayEnds, month, number } from "../ui/time";
import { removeMemories } from "../writing";
import { t } from "../words";

/** A search at every key stroke leaves out the slow last reading; once the fingers rest, it is made good. */
const TYPING = 90;
const RESTING = 450;

const FILTERS = ["project", "kind", "tags", "scope", "since", "until"] as const;
type Filter = (typeof FILTERS)[number];

/** Hits of the first page, and the most the server answers at once. */
const FIRST = 30;
const MOST = 100;

/** What was shown when the screen was left, by its place in the history: who comes back finds it as it was. */
const left = new Map<number, { asked: string; found: Found; hits: readonly Hit[]; scroll: number; opened: string | null }>();

export function SearchScreen({ route }: { route: Route }): JSX.Element {
  const given = route.given;
  const [typed, type] = useState(given["q"] ?? "");
  const query = useRested(typed, TYPING);
  const asked = JSON.stringify([query, ...FILTERS.map((name) => given[name]), given["sort"]]);
  const kept = useRef(left.get(place()));
  if (kept.current?.asked !== asked) kept.current = undefined;
  const [state, set] = useState<{ found: Found | null; hits: readonly Hit[]; problem: unknown; busy: boolean }>({
    found: kept.current?.found ?? null, hits: kept.current?.hits ?? [], problem: null, busy: true,
  });
  const shown = useRef(state);
  shown.current = state;
  const [turn, again] = useState(0);
  const turned = useRef(turn);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  useTitle(query || t("nav.search"));

  // The address follows the words, so that a link can be saved at any moment; and the words follow the address.
  // Where the address has moved on meanwhile, these words are no longer asked for.
  useEffect(() => {
    const now = read(location.hash);
    if (now.screen === "search" && (now.given["q"] ?? "") === (given["q"] ?? "")) go(href("search", { ...now.given, q: query }), true);
  }, [query]);
  useEffect(() => {
    if ((given["q"] ?? "") !== query) type(given["q"] ?? "");
  }, [given["q"]]);
  useEffect(() => {
    const opened = kept.current?.opened;
    if (kept.current) scrollTo(0, kept.current.scroll);
    const link = opened && [...(list.current?.querySelectorAll<HTMLElement>("a.hit-title") ?? [])].find((one) => one.getAttribute("href") === opened);
    (link || input.current)?.focus({ preventScroll: true });
  }, []);

  useLayoutEffect(() => {
    const here = place();
    return () => {
      const { found, hits } = shown.current;
      const opened = document.activeElement?.closest("a.hit-title")?.getAttribute("href") ?? null;
      if (found) left.set(here, { asked, found, hits, scroll: scrollY, opened });
    };
  }, [asked]);
  useEffect(() => {
    const stop = new AbortController();
    const done = (found: Found) => stop.signal.aborted || set({ found, hits: found.hits, problem: null, busy: false });
    const failed = (problem: unknown) => stop.signal.aborted || set({ found: null, hits: [], problem, busy: false });
    set((before) => ({ ...before, busy: true, problem: null }));
    let better = 0;
    // Who deletes a hit of a further page stays where it was.
    const limit = turned.current === turn ? FIRST : Math.min(MOST, Math.max(FIRST, shown.current.hits.length));
    turned.current = turn;
    const before = kept.current?.hits.length;
    kept.current = undefined;
    if (before !== undefined) {
      // It may have changed meanwhile; more than can be asked for at once stays as it was.
      if (before > MOST) set((known) => ({ ...known, busy: false }));
      else api.search({ ...parameters(query, given), effort: "balanced", limit: Math.max(FIRST, before) }, stop.signal).then(done, failed);
      return () => stop.abort();
    }
    // What somebody has begun to walk through keeps its order, also where they began while the better one was on its way.
    const walking = () => list.current?.contains(document.activeElement) || shown.current.hits.length > (shown.current.found?.hits.length ?? 0);
    const improve = () => {
      if (!walking()) api.search({ ...parameters(query, given), limit, effort: "balanced" }, stop.signal).then((better) => walking() || done(better), () => undefined);
    };
    api.search({ ...parameters(query, given), limit, effort: query ? "quick" : "balanced" }, stop.signal).then((found) => {
      done(found);
      // Not before: two searches at once would make each other wait.
      if (query && !stop.signal.aborted) better = window.setTimeout(improve, RESTING);
    }, failed);
    return () => {
      clearTimeout(better);
      stop.abort();
    };
  }, [asked, turn]);

  const { found, hits, problem, busy } = state;
  // A browser takes the focus from what is moved or removed: it stays with its hit, or with the one that took its place.
  const focused = list.current?.contains(document.activeElement) ? document.activeElement!.closest("li") : null;
  const walked = focused && { at: [...list.current!.children].indexOf(focused), link: focused.querySelector("a.hit-title")?.getAttribute("href") };
  useLayoutEffect(() => {
    if (!walked || list.current?.contains(document.activeElement)) return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a.hit-title") ?? [])];
    (links.find((one) => one.getAttribute("href") === walked.link) ?? links[Math.min(walked.at, links.length - 1)] ?? input.current)?.focus();
  }, [hits]);
  const choose = (name: string, value: string | null) => go(href("search", { ...given, q: typed, [name]: value }));
  const more = async () => {
    try {
      const page = await api.search({ ...parameters(query, given), effort: "balanced", facets: false, cursor: found!.next });
      // What is shown may be the answer to something else by now.
      set((before) => (before.found === found ? { ...before, found: { ...before.found!, next: page.next }, hits: joined(before.hits, page.hits) } : before));
    } catch (why) {
      complain(why);
    }
  };
  const step = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a.hit-title") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      if (next < 0) input.current?.focus();
      else links[Math.min(next, links.length - 1)]?.focus();
    } else if (event.key === "Escape") {
      if (at >= 0) input.current?.focus();
      else type("");
    } else if (event.key === "Enter" && at < 0 && event.target === input.current && links[0]) {
      event.preventDefault();
      links[0].click();
    } else if (event.key === "Delete" && !event.repeat && at >= 0 && about.value?.access.write) {
      const hit = hits[at];
      if (hit) void remove(hit);
    }
  };
  const remove = (hit: Hit) => removeMemories([hit], () => again((at) => at + 1));
  const chosen = FILTERS.filter((name) => given[name]);

  return (
    <div class="search" onKeyDown={step}>
      <h1 class="unseen">{t("nav.search")}</h1>
      <div class="search-bar" role="search">
        <Icon name="search" size={20} />
        <input
          id="query"
          ref={input}
          type="search"
          value={typed}
          placeholder={t("search.placeholder")}
          aria-label={t("search.placeholder")}
          aria-describedby="search-state"
          autocomplete="off"
          spellcheck={false}
          enterKeyHint="search"
          dir="auto"
          onInput={(event) => type(event.currentTarget.value)}
        />
        <kbd class="only-wide" aria-hidden="true">/</kbd>
      </div>
      <div class="search-status">
        <p id="search-state" role="status">
          {problem ? "" : found ? state_words(found, query) : t("state.loading")}
        </p>
        <span class="spread" />
        {query && (
          <Select
            label={t("search.sort")}
            hideLabel
            value={given["sort"] === "date" ? "date" : "relevance"}
            options={[["relevance", t("search.sort.relevance")], ["date", t("search.sort.date")]]}
            onChange={(sort) => choose("sort", sort === "date" ? sort : null)}
          />
        )}
        <Button icon="link" kind="quiet" label={t("action.link")} onClick={copyLink} />
      </div>
      {chosen.length > 0 && (
        <div class="chosen">
          {chosen.map((name) => (
            <Chip key={name} kind="on" onRemove={() => choose(name, null)} removeLabel={t("filter.remove", { name: t(`facet.${name}`) })}>
              <span class="muted">{t(`facet.${name}`)}</span> <Name text={name === "since" || name === "until" ? given[name]!.slice(0, 10) : given[name]!} />
            </Chip>
          ))}
          <button type="button" class="quiet" onClick={() => go(href("search", { q: typed }))}>
            {t("filter.clear")}
          </button>
        </div>
      )}
      <div class="search-columns">
        <Facets found={found} given={given} choose={choose} />
        <section class="results" aria-label={t("search.results")} aria-busy={busy}>
          {problem ? (
            <Failed problem={problem} again={() => again((at) => at + 1)} />
          ) : !found ? (
            <Skeleton lines={5} />
          ) : hits.length === 0 ? (
            <Nothing query={query} filtered={chosen.length > 0} />
          ) : (
            <>
              {found.notes.map((note) => (
                <p key={note.code} class="hint">{noteWords(note.code, note.text, note.values)}</p>
              ))}
              <ol ref={list} class="hits">
                {hits.map((hit) => (
                  <HitCard key={`${hit.project}/${hit.id}`} hit={hit} remove={remove} tag={(tag) => choose("tags", tag)} everywhere={!given["project"]} />
                ))}
              </ol>
              {found.next && (
                <div class="more">
                  <Button onClick={more}>{t("action.more")}</Button>
                </div>
              )}
            </>
          )}
        </section>
      </div>
    </div>
  );
}

/** A first page that was found quickly may have another order than those after it. */
function joined(hits: readonly Hit[], more: readonly Hit[]): Hit[] {
  const known = new Set(hits.map((one) => `${one.project}/${one.id}`));
  return [...hits, ...more.filter((one) => !known.has(`${one.project}/${one.id}`))];
}

function parameters(query: string, given: Route["given"]): Parameters<typeof api.search>[0] {
  return {
    query,
    project: given["project"],
    ...(given["kind"] ? { kinds: [given["kind"]] } : {}),
    ...(given["tags"] ? { tags: [given["tags"]] } : {}),
    scope: given["scope"],
    since: dayBegins(given["since"]),
    until: dayEnds(given["until"]),
    sort: given["sort"] === "date" ? "date" : "relevance",
    limit: FIRST,
  };
}

function state_words(found: Found, query: string): string {
  const total = t(query ? "search.found" : "search.newest", { n: found.total });
  const pending = found.pending ? ` · ${t("search.pending", { n: found.pending })}` : "";
  const out = found.left_out.length ? ` · ${t("search.left_out", { names: found.left_out.join(", ") })}` : "";
  return `${total} · ${t("search.took", { n: number(Math.round(found.milliseconds)) })}${pending}${out}`;
}

function noteWords(code: string, text: string, values: Readonly<Record<string, unknown>>): string {
  if (code === "alike") return t("note.alike", { word: String(values["word"]), term: String(values["term"]) });
  if (code === "filtered") return t(values["passing"] ? "note.filtered" : "note.filtered.all");
  if (code === "nothing_fits") return t("note.nothing_fits");
  if (code === "no_meaning") return t("note.no_meaning");
  if (code === "loading") return t("note.loading");
  if (code === "pending") return t("note.pending", { n: Number(values["passages"]) });
  return text;
}

export function copyLink(): void {
  void copy(location.href, t("action.link.done"));
}

function Nothing({ query, filtered }: { query: string; filtered: boolean }): JSX.Element {
  if (query || filtered)
    return (
      <Empty icon="search" title={t("search.none")}>
        <p>{t(filtered ? "search.none.filtered" : "search.none.help")}</p>
      </Empty>
    );
  return (
    <Empty icon="scopes" title={t("search.empty")}>
      <p>{t("search.empty.help")}</p>
    </Empty>
  );
}

function HitCard(given: { hit: Hit; remove: (hit: Hit) => Promise<void>; tag: (tag: string) => void; everywhere: boolean }): JSX.Element {
  const { hit, remove, tag, everywhere } = given;
  return (
    <li class={hit.superseded_by ? "hit superseded" : "hit"}>
      <div class="hit-head">
        <a class="hit-title" href={href("memory", { project: hit.project }, hit.id)}>
          <Name text={hit.title} />
        </a>
        <span class="chip kind"><Name text={hit.kind} /></span>
        <span class="spread" />
        {about.value?.access.write && (
          <Button icon="trash" kind="quiet" label={t("memory.delete.named", { title: hit.title })} onClick={() => remove(hit)} />
        )}
      </div>
      {fragmentsOf(hit).map((fragment, index) => (
        <p key={index} class="fragment stored" dir="auto">
          <Parts parts={fragment.parts} />
        </p>
      ))}
      {hit.superseded_by && (
        <p class="hint">
          <Icon name="warn" size={15} /> {t("memory.superseded")}{" "}
          <a href={href("memory", { project: hit.project }, hit.superseded_by.id)}>
            <Name text={hit.superseded_by.title} />
          </a>
        </p>
      )}
      <div class="meta">
        {hit.why && <span class="why"><Piece text={whyWords(hit.why)} /></span>}
        {everywhere && <span><Name text={hit.project} /></span>}
        <span><Name text={hit.scope} /></span>
        {hit.tags.slice(0, 6).map((one) => (
          <button key={one} type="button" class="tag" onClick={() => tag(one)} title={t("filter.by", { name: one })}>
            #<Name text={one} />
          </button>
        ))}
        <Ago at={hit.updated} />
        {hit.stored?.client && <span><Name text={hit.stored.client} /></span>}
      </div>
    </li>
  );
}

/** The pieces that say something new: name, kind and tags are beside them, and so is a text that is its own title. */
function fragmentsOf({ fragments, title }: Hit): Hit["fragments"] {
  const texts = fragments.filter((one) => one.observation !== null);
  const matching = (some: Hit["fragments"]) => some.some((one) => one.parts.some((part) => part.match));
  const shown = matching(texts) || !matching(fragments) ? texts : fragments;
  return shown.filter((one) => one.parts.some((part) => part.match) || one.parts.map((part) => part.text).join("") !== title);
}

function Parts({ parts }: { parts: readonly Part[] }): JSX.Element {
  return <>{parts.map((part) => (part.match ? <mark><Piece text={part.text} /></mark> : <Piece text={part.text} />))}</>;
}

/** Why something was found, in a few words; what a search is sure of comes first. */
export function whyWords(why: Why): string {
  const quoted = (words: readonly unknown[]) => words.slice(0, 4).map((word) => `“${word}”`).join(", ");
  const said: string[] = [];
  if (why.exact) said.push(t("why.exact"));
  else if (why.terms.length) said.push(t(why.complete ? "why.all" : "why.some", { words: quoted(why.terms) }));
  if (why.missing.length) said.push(t("why.missing", { words: quoted(why.missing) }));
  if (why.alike.length) said.push(t("why.alike", { words: quoted(why.alike.map((one) => (Array.isArray(one) ? one.at(-1) : typeof one === "object" && one ? Object.values(one).at(-1) : one))) }));
  if (why.meaning !== null && why.meaning > 0 && !why.exact) said.push(t("why.meaning", { n: Math.round((why.similarity ?? why.meaning) * 100) }));
  if (why.time || why.date) said.push(t("why.time"));
  return said.join(" · ") || t("why.newest");
}

function Facets(given: { found: Found | null; given: Route["given"]; choose: (name: Filter, value: string | null) => void }): JSX.Element {
  const { found, choose } = given;
  const wide = typeof matchMedia === "function" && matchMedia("(min-width: 60rem)").matches;
  const [open, setOpen] = useState(wide);
  const facets = found?.facets ?? {};
  const lists = (["project", "kind", "tags", "scope"] as const).map((name) => [name, facets[name] ?? []] as const);
  return (
    <details class="facets" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="filter" /> {t("filter.title")}
      </summary>
      {lists.map(([name, counts]) =>
        (name !== "project" || counts.length > 1) && counts.length > 0 ? (
          <Facet key={name} title={t(`facet.${name}`)} counts={counts} chosen={given.given[name] ?? null} choose={(value) => choose(name, value)} />
        ) : null,
      )}
      <Months months={facets.month ?? []} given={given.given} />
    </details>
  );
}

function Facet(given: { title: string; counts: readonly Counted[]; chosen: string | null; choose: (value: string | null) => void }): JSX.Element {
  const [all, showAll] = useState(false);
  const shown = all ? given.counts : given.counts.slice(0, 7);
  return (
    <fieldset>
      <legend>{given.title}</legend>
      {shown.map(([name, count]) => (
        <button key={name} type="button" class="facet" aria-pressed={given.chosen === name} onClick={() => given.choose(given.chosen === name ? null : name)}>
          <span class="facet-name"><Name text={name} /></span>
          <span class="facet-count">{number(count)}</span>
        </button>
      ))}
      {given.counts.length > 7 && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => showAll(!all)}>
          {all ? t("action.less") : t("filter.all", { n: given.counts.length })}
        </button>
      )}
    </fieldset>
  );
}

function Months({ months, given }: { months: readonly Counted[]; given: Route["given"] }): JSX.Element {
  // The server counts months in UTC: what is chosen is what was counted.
  const since = (name: string) => `${name}-01T00:00:00Z`;
  const until = (name: string) => `${new Date(Date.UTC(Number(name.slice(0, 4)), Number(name.slice(5)), 0)).toISOString().slice(0, 10)}T23:59:59.999999Z`;
  const set = (since: string | null, end: string | null) => go(href("search", { ...given, since, until: end }));
  return (
    <fieldset>
      <legend>{t("facet.time")}</legend>
      {months.slice(0, 6).map(([name, count]) => {
        const chosen = given["since"] === since(name) && given["until"] === until(name);
        return (
          <button key={name} type="button" class="facet" aria-pressed={chosen} onClick={() => (chosen ? set(null, null) : set(since(name), until(name)))}>
            <span class="facet-name">{month(name)}</span>
            <span class="facet-count">{number(count)}</span>
          </button>
        );
      })}
      <label class="date">
        <span>{t("facet.since")}</span>
        <input type="date" value={given["since"]?.slice(0, 10) ?? ""} onChange={(event) => set(event.currentTarget.value, given["until"] ?? null)} />
      </label>
      <label class="date">
        <span>{t("facet.until")}</span>
        <input type="date" value={given["until"]?.slice(0, 10) ?? ""} onChange={(event) => set(given["since"] ?? null, event.currentTarget.value)} />
      </label>
    </fieldset>
  );
}
