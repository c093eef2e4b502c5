import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { about, api, follow } from "../api/client";
import type { Effect, Related, RelationEffect, RelationEnd, TimelineItem, Told } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { go, href, type Route } from "../route";
import { Author } from "../ui/author";
import { Differences } from "../ui/differences";
import { Icon } from "../ui/icons";
import { Button, complain, Dialog, Empty, Failed, Field, Select, Skeleton, Tabs } from "../ui/parts";
import { Name } from "../ui/stored";
import { clock, day, justBefore, number } from "../ui/time";
import { t } from "../words";
import { CompareMoments } from "./compare";
import { howWords, UndoDialog, type Undoing } from "./undo";

export function TimelineScreen({ route, project }: { route: Route; project: string }): JSX.Element {
  useTitle(t("nav.timeline"));
  const tab = route.given["tab"] === "compare" ? "compare" : "changes";
  return (
    <div class="timeline">
      <div class="title-row">
        <h1>{t("nav.timeline")}</h1>
        <Tabs
          label={t("nav.timeline")}
          value={tab}
          tabs={[["changes", t("timeline.changes")], ["compare", t("timeline.compare")]]}
          onChange={(value) => go(href("timeline", { ...route.given, tab: value === "compare" ? value : null }))}
        />
      </div>
      {tab === "compare" ? <CompareMoments route={route} project={project} /> : <Changes route={route} project={project} />}
    </div>
  );
}

function Changes({ route, project }: { route: Route; project: string }): JSX.Element {
  const { given } = route;
  const [older, setOlder] = useState<{ items: readonly TimelineItem[]; next: string | null } | null>(null);
  const [newer, setNewer] = useState<readonly TimelineItem[]>([]);
  const [live, setLive] = useState(false);
  const [undoing, undo] = useState<{ project: string; what: Undoing } | null>(null);
  const [session, askSession] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const [picked, pick] = useState<ReadonlySet<string>>(new Set());
  const background = given["background"] === "1";
  const asked = [given["project"], given["client"], given["tool"], given["since"], given["until"], background];
  const parameters = {
    project: given["project"], client: given["client"], tool: given["tool"], since: given["since"], until: given["until"], background,
  };
  const first = useAsked((signal) => api.timeline(parameters, signal), asked);
  const writes = about.value?.access.write ?? false;

  const begun = first.value?.next;
  const shown = useRef(begun);
  shown.current = begun;
  useEffect(() => setOlder(null), [begun]);
  useEffect(() => {
    // An answer knows what was before it; what was heard since is not in it.
    const newest = Math.max(0, ...(first.value?.changes ?? []).map((one) => one.change));
    setNewer((all) => all.filter((one) => one.change > newest));
  }, [first.value]);
  useEffect(() => {
    setNewer([]);
    pick(new Set());
    const passes = (told: Told) =>
      (!given["project"] || told.project === given["project"]) &&
      (!given["client"] || told.change.client === given["client"]) &&
      (!given["tool"] || told.change.tool === given["tool"]) &&
      !given["until"] &&
      (background || !told.change.background);
    return follow((told) => {
      if (passes(told)) setNewer((all) => (all.some((one) => keyOf(one) === keyOf(told.change)) ? all : [{ ...told, ...told.change }, ...all]));
    }, setLive);
  }, asked);
  // What happened while nobody listened is not told: it is asked for as soon as somebody does.
  useEffect(() => void (live && first.again()), [live]);

  const known = new Set<string>();
  const items = [...newer, ...(first.value?.changes ?? []), ...(older?.items ?? [])].filter((one) => !known.has(keyOf(one)) && known.add(keyOf(one)));
  // An undo that was heard marks what it took back.
  const takenBack = new Map(newer.filter((one) => one.undoes !== null).map((one) => [`${one.project}/${one.undoes}`, one.change]));
  const next = older ? older.next : first.value?.next;
  const choose = (name: string, value: string | null) => go(href("timeline", { ...given, [name]: value }));
  const undoneBy = (one: TimelineItem) => one.undone_by ?? takenBack.get(keyOf(one)) ?? null;
  const chosen = items.filter((one) => picked.has(keyOf(one)) && undoneBy(one) === null);
  const oneProject = new Set(chosen.map((one) => one.project)).size === 1;

  return (
    <>
      <div class="toolbar">
        <span class={live ? "live on" : "live"} role="status">{t(live ? "timeline.live" : "timeline.waiting")}</span>
        <Filter name="client" values={first.value?.clients ?? []} given={given} choose={choose} />
        <Filter name="tool" values={first.value?.tools ?? []} given={given} choose={choose} />
        <label class="check">
          <input type="checkbox" checked={background} onChange={(event) => choose("background", event.currentTarget.checked ? "1" : null)} />
          {t("timeline.background")}
        </label>
        <span class="spread" />
        {writes && chosen.length > 0 && (
          <Button icon="undo" kind="main" disabled={!oneProject} title={oneProject ? "" : t("timeline.one_project")} onClick={() => undo({ project: chosen[0]!.project, what: { changes: chosen.map((one) => one.change) } })}>
            {t("undo.do", { n: chosen.length })}
          </Button>
        )}
        {writes && <Button onClick={() => askSession(true)}>{t("undo.session")}</Button>}
      </div>
      {first.problem ? (
        <Failed problem={first.problem} again={first.again} />
      ) : !first.value ? (
        <Skeleton lines={5} />
      ) : items.length === 0 ? (
        <Empty icon="timeline" title={t("timeline.none")}><p>{t(given["client"] || given["tool"] ? "search.none.filtered" : "timeline.none.help")}</p></Empty>
      ) : (
        <>
          {byDay(items).map(([name, changes]) => (
            <section key={name} class="day">
              <h2>{name}</h2>
              <ol>
                {changes.map((item) => (
                  <ChangeRow
                    key={keyOf(item)}
                    item={item}
                    undoneBy={undoneBy(item)}
                    fresh={newer.some((one) => keyOf(one) === keyOf(item))}
                    showProject={!given["project"]}
                    open={open === keyOf(item)}
                    toggle={() => setOpen(open === keyOf(item) ? null : keyOf(item))}
                    picked={chosen.includes(item)}
                    pick={writes ? () => pick((all) => { const next = new Set(all); if (!next.delete(keyOf(item))) next.add(keyOf(item)); return next; }) : null}
                    undo={writes ? (what) => undo({ project: item.project, what }) : null}
                  />
                ))}
              </ol>
            </section>
          ))}
          {next && (
            <div class="more">
              <Button onClick={() => api.timeline({ ...parameters, cursor: next }).then((page) => shown.current === begun && setOlder({ items: [...(older?.items ?? []), ...page.changes], next: page.next }), complain)}>
                {t("action.more")}
              </Button>
            </div>
          )}
        </>
      )}
      {undoing && <UndoDialog project={undoing.project} what={undoing.what} onClose={() => undo(null)} then={first.again} />}
      {session && <AskSession project={project} onClose={() => askSession(false)} then={(where, name) => { askSession(false); undo({ project: where, what: { session: name } }); }} />}
    </>
  );
}

function keyOf(one: { project: string; change: number }): string {
  return `${one.project}/${one.change}`;
}

function byDay(items: readonly TimelineItem[]): [string, TimelineItem[]][] {
  const days = new Map<string, TimelineItem[]>();
  for (const item of items) {
    const name = day(item.at);
    days.set(name, [...(days.get(name) ?? []), item]);
  }
  return [...days];
}

function Filter(given: { name: "client" | "tool"; values: readonly string[]; given: Route["given"]; choose: (name: string, value: string | null) => void }): JSX.Element {
  const chosen = given.given[given.name] ?? "";
  const values = chosen && !given.values.includes(chosen) ? [chosen, ...given.values] : given.values;
  return (
    <Select
      label={t(`timeline.${given.name}`)}
      hideLabel
      value={chosen}
      options={[["", t(`timeline.${given.name}.all`)], ...values.map((one) => [one, one] as const)]}
      onChange={(value) => given.choose(given.name, value || null)}
    />
  );
}

function ChangeRow(given: {
  item: TimelineItem;
  undoneBy: number | null;
  fresh: boolean;
  showProject: boolean;
  open: boolean;
  toggle: () => void;
  picked: boolean;
  pick: (() => void) | null;
  undo: ((what: Undoing) => void) | null;
}): JSX.Element {
  const { item, undoneBy } = given;
  return (
    <li class={`change${undoneBy !== null ? " undone" : ""}${given.fresh ? " fresh" : ""}`}>
      {given.pick && <input type="checkbox" checked={given.picked} disabled={undoneBy !== null} aria-label={t("timeline.pick", { n: item.change })} onChange={given.pick} />}
      <time dateTime={item.at}>{clock(item.at)}</time>
      <div class="change-body">
        <ul class="effects">
          {item.effects.map((effect, index) => <EffectLine key={index} effect={effect} project={item.project} />)}
          {item.total > item.effects.length && <li class="muted">{t("timeline.others", { n: number(item.total - item.effects.length) })}</li>}
          <RelationLines of={item} project={item.project} />
          {item.total + item.relations_total === 0 && <li class="muted"><Name text={item.action} /></li>}
        </ul>
        <div class="meta">
          {given.showProject && <span><Name text={item.project} /></span>}
          <Author author={item} />
          <span>#{item.change}</span>
          {item.undoes !== null && <span class="chip">{t("timeline.undoes", { n: item.undoes })}</span>}
          {undoneBy !== null && <span class="chip">{t("timeline.undone", { n: undoneBy })}</span>}
        </div>
        {given.open && <ChangeDetails item={item} undo={undoneBy === null ? given.undo : null} />}
      </div>
      <div class="actions">
        <Button icon={given.open ? "down" : "right"} kind="quiet" label={t("timeline.details", { n: item.change })} expanded={given.open} onClick={given.toggle} />
        {given.undo && undoneBy === null && (
          <Button icon="undo" kind="quiet" label={t("timeline.undo", { n: item.change })} onClick={() => given.undo!({ change: item.change })} />
        )}
      </div>
    </li>
  );
}

export function EffectLine({ effect, project }: { effect: Effect; project: string }): JSX.Element {
  return (
    <li>
      <span class={`how ${effect.how}`}>{howWords(effect.how)}</span>{" "}
      {effect.id ? <a href={href("memory", { project }, effect.id)}><Name text={effect.title ?? effect.id} /></a> : <Name text={effect.title ?? ""} />}
      {effect.kind && <span class="muted"> <Name text={effect.kind} /></span>}
    </li>
  );
}

/** Relations that the server drew come and go with their memories: they are counted, unless a change did nothing else. */
export function RelationLines(given: { of: Related & { readonly total: number }; project: string; how?: (effect: RelationEffect) => string }): JSX.Element {
  const { of, project, how = (effect) => effect.how } = given;
  const drawn = countsDrawn(of) ? of.relations_automatic : 0;
  const shown = drawn ? of.relations.filter((one) => !one.automatic) : of.relations;
  const left = of.relations_total - drawn - shown.length;
  return (
    <>
      {shown.map((one, index) => <RelationLine key={index} effect={one} project={project} how={how(one)} />)}
      {left > 0 && <li class="muted">{t("timeline.others.relations", { n: left })}</li>}
      {drawn > 0 && <li class="muted">{t("timeline.drawn", { n: drawn })}</li>}
    </>
  );
}

function countsDrawn(of: Related & { readonly total: number }): boolean {
  return of.total + of.relations_total > of.relations_automatic;
}

function RelationLine({ effect, project, how }: { effect: RelationEffect; project: string; how: string }): JSX.Element {
  const end = (one: RelationEnd) => (one.id ? <a href={href("memory", { project }, one.id)}><Name text={one.title} /></a> : <Name text={one.title} />);
  return (
    <li>
      <span class={`how ${how}`}>{howWords(how)}</span> {end(effect.from)} <span class="muted">→ <Name text={effect.type} /> →</span> {end(effect.to)}
    </li>
  );
}

function ChangeDetails({ item, undo }: { item: TimelineItem; undo: ((what: Undoing) => void) | null }): JSX.Element {
  const details = useAsked(() => api.change(item.change, item.project), [item.change, item.project]);
  if (details.problem) return <Failed problem={details.problem} again={details.again} />;
  if (!details.value) return <Skeleton lines={1} />;
  const drawn = countsDrawn(details.value) ? details.value.relations.filter((one) => one.automatic) : [];
  return (
    <div class="change-details">
      {details.value.effects.map((effect, index) => (
        <div key={index}>
          <p><Icon name="right" size={13} /> <Name text={(effect.after ?? effect.before)?.title ?? ""} /></p>
          <Differences before={effect.before} after={effect.after} />
        </div>
      ))}
      {details.value.total > details.value.effects.length && <p class="muted">{t("timeline.others", { n: details.value.total - details.value.effects.length })}</p>}
      {drawn.length > 0 && <ul class="effects">{drawn.map((one, index) => <RelationLine key={index} effect={one} project={item.project} how={one.how} />)}</ul>}
      {details.value.effects.length + details.value.relations_total === 0 && <p class="muted">{t("diff.same")}</p>}
      {undo && (
        <div class="actions">
          <Button icon="undo" onClick={() => undo({ change: item.change })}>{t("undo.this")}</Button>
          <Button onClick={() => undo({ since: justBefore(item.at) })}>{t("undo.since")}</Button>
        </div>
      )}
    </div>
  );
}

function AskSession({ project, onClose, then }: { project: string; onClose: () => void; then: (project: string, name: string) => void }): JSX.Element {
  const id = useId();
  const [where, setWhere] = useState(project);
  const [name, setName] = useState("");
  const tree = useAsked(() => api.tree(where), [where]);
  const known = tree.value?.projects[0]?.scopes.flatMap(({ path, total }) => (/^session\/[^/]+$/.test(path) ? [[path.slice("session/".length), total] as const] : [])) ?? [];
  return (
    <Dialog title={t("undo.session")} onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); if (name.trim()) then(where, name.trim()); }}>
        <Select label={t("field.project")} value={where} options={[...new Set([project, ...(about.value?.projects ?? [])])].map((one) => [one, one] as const)} onChange={setWhere} />
        <Field label={t("field.session")} help={t("undo.session.help")}>
          {(field) => <input id={field} list={id} required autofocus dir="auto" autocomplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />}
        </Field>
        <datalist id={id}>{known.map(([session, count]) => <option key={session} value={session}>{t("count.memories", { n: count })}</option>)}</datalist>
        <footer>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button submit kind="main">{t("undo.show")}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
