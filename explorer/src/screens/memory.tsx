import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { about, api, Problem } from "../api/client";
import type { Memory, OneMemory, Relation, Version } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { href, type Route } from "../route";
import { Icon } from "../ui/icons";
import { Author } from "../ui/author";
import { letter } from "../ui/keys";
import { Button, Chip, complain, Dialog, Empty, Failed, Field, say, Skeleton } from "../ui/parts";
import { Differences } from "../ui/differences";
import { Name, plain, Text } from "../ui/stored";
import { Ago, moment, number } from "../ui/time";
import { removeMemories, sayDone } from "../writing";
import { t } from "../words";
import { words } from "./new-memory";
import { NameField } from "../ui/name-field";
import { copyLink } from "./search";
import { UndoDialog } from "./undo";

export function MemoryScreen({ route }: { route: Route }): JSX.Element {
  const id = route.target ?? "";
  const project = route.given["project"];
  const [whole, setWhole] = useState(false);
  const one = useAsked(() => api.memory(id, project, whole), [id, project, whole]);
  useTitle(one.value?.memory.title ?? "");
  if (one.problem) {
    const absent = one.problem instanceof Problem && one.problem.status === 404;
    return absent ? (
      <Empty icon="search" title={t("memory.absent")}>
        <p><Name text={id} /></p>
        <a class="button" href={href("search", { project, q: id })}><Icon name="search" /><span>{t("memory.absent.search")}</span></a>
      </Empty>
    ) : <Failed problem={one.problem} again={one.again} />;
  }
  if (!one.value) return <Skeleton lines={3} />;
  return <Shown key={one.value.memory.id} one={one.value} again={one.again} showWhole={() => setWhole(true)} whole={whole} />;
}

function Shown({ one, again, showWhole, whole }: { one: OneMemory; again: () => void; showWhole: () => void; whole: boolean }): JSX.Element {
  const { memory } = one;
  const [editing, edit] = useState(() => drafts.has(draftOf(memory)) && !one.deleted);
  const [session, undoSession] = useState(false);
  const writes = (about.value?.access.write ?? false) && !one.deleted;
  const cut = memory.observations.some((text) => text.cut);
  const begin = () => {
    if (cut && !whole) showWhole();
    edit(true);
  };
  /** This memory alone: the change that deleted it may have deleted others. */
  const bringBack = async () => {
    try {
      const { versions } = await api.versions(memory.id, memory.project);
      const { changes } = await api.restore(memory.id, versions[0]!.change.change, memory.project);
      again();
      sayDone(t("version.restored"), memory.project, changes, again);
    } catch (why) {
      complain(why);
    }
  };
  useEffect(() => void (editing && cut && !whole && showWhole()), []);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (letter(event) !== "e" || !writes || event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest?.("input, textarea, select, dialog")) return;
      event.preventDefault();
      begin();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [writes, cut, whole]);

  return (
    <article class="memory">
      <header class="memory-head">
        <p class="crumbs">
          <a href={href("search", { project: memory.project })}><Name text={memory.project} /></a>
          {memory.scope.split("/").map((part, index, all) => (
            <span key={index}>
              <span aria-hidden="true"> / </span>
              <a href={href("search", { project: memory.project, scope: all.slice(0, index + 1).join("/") })}><Name text={part} /></a>
            </span>
          ))}
        </p>
        <div class="title-row">
          <h1><Name text={memory.title} /></h1>
          <div class="actions">
            {writes && !editing && <Button icon="edit" onClick={begin}>{t("action.edit")}</Button>}
            {!one.deleted && <a class="button" href={href("graph", { project: memory.project, at: memory.id })}><Icon name="graph" /><span>{t("nav.graph")}</span></a>}
            <Button icon="link" kind="quiet" label={t("action.link")} onClick={copyLink} />
            {writes && <Button icon="trash" kind="quiet" label={t("action.delete")} onClick={() => removeMemories([memory], again)} />}
          </div>
        </div>
        <div class="meta">
          <span class="chip kind"><Name text={memory.kind} /></span>
          {memory.tags.map((tag) => (
            <a key={tag} class="tag" href={href("search", { project: memory.project, tags: tag })}>#<Name text={tag} /></a>
          ))}
          <span>{t("memory.version", { n: memory.version })}</span>
          <Ago at={memory.updated} />
          {one.stored && <Author author={one.stored} />}
        </div>
      </header>
      {one.deleted && (
        <div class="banner" role="status">
          <Icon name="trash" />
          <span>{t("memory.gone", { when: moment(one.deleted.at), who: plain(one.deleted.who) })}</span>
          {about.value?.access.write && (
            <Button icon="undo" onClick={() => bringBack()}>{t("action.restore")}</Button>
          )}
        </div>
      )}
      {memory.superseded_by && (
        <div class="banner" role="status">
          <Icon name="warn" />
          <span>
            {t("memory.superseded")} <a href={href("memory", { project: memory.project }, memory.superseded_by.id)}><Name text={memory.superseded_by.title} /></a>
          </span>
        </div>
      )}
      <div class="memory-columns">
        <div>
          {editing && (!cut || whole) ? (
            <Editor memory={memory} again={again} close={() => edit(false)} />
          ) : (
            <section class="card" aria-label={t("memory.texts")}>
              {memory.observations.length === 0 && <p class="muted">{t("memory.silent")}</p>}
              {memory.observations.length === 1 ? (
                <Text text={memory.observations[0]!.text} />
              ) : (
                <ol class="observations">
                  {memory.observations.map((text, index) => (
                    <li key={index}><Text text={text.text} /></li>
                  ))}
                </ol>
              )}
              {cut && !whole && (
                <p class="hint">
                  {t("memory.cut", { n: number(memory.observations.reduce((sum, text) => sum + text.length, 0)) })}{" "}
                  <button type="button" class="quiet" onClick={showWhole}>{t("memory.whole")}</button>
                </p>
              )}
              {memory.summary && <p class="hint"><Name text={memory.summary} /></p>}
            </section>
          )}
          <Versions memory={memory} again={again} writes={about.value?.access.write ?? false} />
        </div>
        <aside>
          <Relations one={one} writes={writes} again={again} />
          <Details one={one} undoSession={writes ? () => undoSession(true) : null} />
        </aside>
      </div>
      {session && <UndoDialog project={memory.project} what={{ session: memory.session! }} onClose={() => undoSession(false)} then={again} />}
    </article>
  );
}

function Details({ one, undoSession }: { one: OneMemory; undoSession: (() => void) | null }): JSX.Element {
  const { memory } = one;
  const rows: [string, JSX.Element | string][] = [
    [t("field.id"), <code><Name text={memory.id} /></code>],
    ...(memory.name && memory.name !== memory.title ? [[t("field.name"), <Name text={memory.name} />] as [string, JSX.Element]] : []),
    [t("field.created"), moment(memory.created)],
    [t("field.updated"), moment(memory.updated)],
    ...(one.stored ? [[t("field.author"), <Name text={one.stored.who} />] as [string, JSX.Element]] : []),
    ...(memory.category ? [[t("field.category"), <Name text={memory.category} />] as [string, JSX.Element]] : []),
    ...(memory.content_type ? [[t("field.content_type"), <Name text={memory.content_type} />] as [string, JSX.Element]] : []),
    ...(memory.session
      ? [[t("field.session"), <><Name text={memory.session} /> {undoSession && <button type="button" class="quiet" onClick={undoSession}>{t("undo.session")}</button>}</>] as [string, JSX.Element]]
      : []),
    ...Object.entries(memory.metadata).map(([name, value]) => [name, <Name text={typeof value === "string" ? value : JSON.stringify(value)} />] as [string, JSX.Element]),
  ];
  return (
    <section class="card">
      <h2>{t("memory.details")}</h2>
      <dl class="details">
        {rows.map(([name, value]) => (
          <div key={name}><dt><Name text={name} /></dt><dd>{value}</dd></div>
        ))}
      </dl>
      {one.supersedes.length > 0 && (
        <>
          <h3>{t("memory.supersedes")}</h3>
          <ul class="plain">
            {one.supersedes.map((old) => (
              <li key={old.id}><a href={href("memory", { project: memory.project }, old.id)}><Name text={old.title} /></a></li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Relations({ one, writes, again }: { one: OneMemory; writes: boolean; again: () => void }): JSX.Element {
  const { memory, relations } = one;
  const [adding, add] = useState(false);
  const own = relations.filter((relation) => relation.origin === "manual");
  const drawn = relations.filter((relation) => relation.origin !== "manual");
  const away = async (relation: Relation) => {
    try {
      const { changes } = await api.unrelate({ project: memory.project, from: relation.from, to: relation.to, type: relation.type });
      again();
      sayDone(t("relation.removed"), memory.project, changes, again);
    } catch (why) {
      complain(why);
    }
  };
  const row = (relation: Relation) => (
    <li key={relation.id}>
      <span class="relation-type">
        <span aria-hidden="true">{relation.direction === "out" ? "→" : "←"}</span>
        <span class="unseen">{t(relation.direction === "out" ? "relation.out" : "relation.in")}</span> <Name text={relation.type} />
      </span>
      {relation.other ? (
        <a href={href("memory", { project: memory.project }, relation.other.id)}><Name text={relation.other.title} /></a>
      ) : (
        <span class="muted"><Name text={relation.direction === "out" ? relation.to : relation.from} /></span>
      )}
      {writes && relation.origin === "manual" && <Button icon="close" kind="quiet" label={t("relation.remove", { type: relation.type })} onClick={() => away(relation)} />}
    </li>
  );
  return (
    <section class="card">
      <div class="title-row">
        <h2>{t("memory.relations")} <span class="count">{number(one.relations_total)}</span></h2>
        {writes && <Button icon="plus" kind="quiet" label={t("relation.add")} onClick={() => add(true)} />}
      </div>
      {one.relations_total === 0 && <p class="muted">{t("relation.none")}</p>}
      <ul class="relations">{own.map(row)}</ul>
      {drawn.length > 0 && (
        <details open={own.length === 0}>
          <summary>{t("relation.drawn", { n: drawn.length })}</summary>
          <ul class="relations">{drawn.map(row)}</ul>
        </details>
      )}
      {adding && <Relate memory={memory} onClose={() => add(false)} then={again} />}
    </section>
  );
}

function Relate({ memory, onClose, then }: { memory: Memory; onClose: () => void; then: () => void }): JSX.Element {
  const [type, setType] = useState("relates_to");
  const [to, setTo] = useState("");
  const [busy, setBusy] = useState(false);
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { changes } = await api.relate({ project: memory.project, from: memory.name ?? memory.id, to, type });
      onClose();
      then();
      sayDone(t("relation.added"), memory.project, changes, then);
    } catch (why) {
      complain(why);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t("relation.add")} onClose={onClose}>
      <form onSubmit={save}>
        <Field label={t("relation.type")}>{(id) => <input id={id} required value={type} onInput={(event) => setType(event.currentTarget.value)} />}</Field>
        <NameField label={t("relation.to")} project={memory.project} value={to} onChange={setTo} />
        <footer>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button submit kind="main" busy={busy}>{t("relation.add")}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface Draft {
  /** The memory as it was when the edit began: what differs from it was typed here. */
  readonly base: Memory;
  readonly texts: string[];
  readonly kind: string;
  readonly tags: string;
  readonly scope: string;
}

/** What was typed into an editor that was left without saving: it is there when one comes back. */
const drafts = new Map<string, Draft>();

function draftOf(memory: Memory): string {
  return `${memory.project}/${memory.id}`;
}

function Editor({ memory, again, close }: { memory: Memory; again: () => void; close: () => void }): JSX.Element {
  const begun = useRef(drafts.get(draftOf(memory))).current;
  const base = useRef(begun?.base ?? memory).current;
  const [texts, setTexts] = useState(begun?.texts ?? base.observations.map((one) => one.text));
  const [kind, setKind] = useState(begun?.kind ?? base.kind);
  const [tags, setTags] = useState(begun?.tags ?? base.tags.join(", "));
  const [scope, setScope] = useState(begun?.scope ?? base.scope);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("textarea")?.focus(), []);
  const [busy, setBusy] = useState(false);
  const [taken, setTaken] = useState<Memory | null>(null);
  const save = async (event?: Event, version = base.version) => {
    event?.preventDefault();
    if (busy) return;
    const before = base.observations.map((one) => one.text);
    const after = texts.filter((text) => text.trim() !== "");
    if (!after.length && !memory.name) {
      say(t("edit.empty"));
      return;
    }
    setBusy(true);
    try {
      const { changes } = await api.edit({
        id: memory.id, project: memory.project, version,
        ...(JSON.stringify(after) !== JSON.stringify(before) ? { observations: after } : {}),
        ...(kind !== base.kind ? { kind } : {}),
        ...(tags !== base.tags.join(", ") ? { tags: words(tags) } : {}), // one with a comma in it stays whole while nobody types here
        ...(scope !== base.scope ? { scope } : {}),
      });
      done();
      again();
      sayDone(t("memory.saved"), memory.project, changes, again);
    } catch (why) {
      setBusy(false);
      if (why instanceof Problem && why.status === 409 && why.details["version"] !== undefined)
        api.memory(memory.id, memory.project, true).then((now) => setTaken(now.memory), complain);
      else {
        complain(why);
        if (why instanceof Problem && why.status === 404) again(); // deleted meanwhile: who, when, and the way back
      }
    }
  };
  const changed = JSON.stringify([texts, kind, tags, scope]) !== JSON.stringify([base.observations.map((one) => one.text), base.kind, base.tags.join(", "), base.scope]);
  /** Escape throws nothing away that somebody has typed. */
  const leave = () => (changed ? say(t("edit.unsaved")) : done());
  const done = () => {
    drafts.delete(draftOf(memory));
    close();
  };
  useLayoutEffect(() => {
    if (changed) drafts.set(draftOf(memory), { base, texts, kind, tags, scope });
    else drafts.delete(draftOf(memory));
  });
  useEffect(() => {
    if (!changed) return undefined;
    const stay = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", stay);
    return () => removeEventListener("beforeunload", stay);
  }, [changed]);
  return (
    <form ref={form} class="card editor" onSubmit={save} onKeyDown={(event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") {
        event.preventDefault();
        leave();
      }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
    }}>
      {taken && (
        <div class="banner" role="alert">
          <div>
            <strong>{t("edit.taken")}</strong>
            <Differences before={base} after={taken} />
            <div class="actions">
              <Button onClick={() => { done(); again(); }}>{t("edit.take")}</Button>
              <Button kind="danger" onClick={() => save(undefined, taken.version)}>{t("edit.keep")}</Button>
            </div>
          </div>
        </div>
      )}
      {texts.map((text, index) => (
        <div key={index} class="editor-text">
          <textarea
            aria-label={texts.length > 1 ? t("edit.observation", { n: index + 1 }) : t("field.text")}
            dir="auto"
            rows={Math.min(18, Math.max(3, Math.ceil(text.length / 80) + text.split("\n").length - 1))}
            value={text}
            onInput={(event) => setTexts(texts.map((one, at) => (at === index ? event.currentTarget.value : one)))}
          />
          {texts.length > 1 && <Button icon="close" kind="quiet" label={t("edit.remove", { n: index + 1 })} onClick={() => setTexts(texts.filter((_, at) => at !== index))} />}
        </div>
      ))}
      {memory.name && <Button icon="plus" kind="quiet" onClick={() => setTexts([...texts, ""])}>{t("edit.add")}</Button>}
      <div class="fields">
        <Field label={t("field.kind")}>{(id) => <input id={id} value={kind} onInput={(event) => setKind(event.currentTarget.value)} />}</Field>
        <Field label={t("field.tags")} help={t("field.tags.help")}>{(id) => <input id={id} dir="auto" value={tags} onInput={(event) => setTags(event.currentTarget.value)} />}</Field>
        <Field label={t("field.scope")}>{(id) => <input id={id} dir="auto" value={scope} onInput={(event) => setScope(event.currentTarget.value)} />}</Field>
      </div>
      <footer>
        <Button onClick={done}>{t("action.cancel")}</Button>
        <Button submit kind="main" busy={busy} title="Ctrl+Enter">{t("action.save")}</Button>
      </footer>
    </form>
  );
}

function Versions({ memory, again, writes }: { memory: Memory; again: () => void; writes: boolean }): JSX.Element {
  const { id } = memory;
  const [more, setMore] = useState<readonly Version[]>([]);
  const [next, setNext] = useState<string | null | undefined>(undefined);
  const first = useAsked(async () => {
    const page = await api.versions(id, memory.project);
    setMore([]);
    setNext(page.next);
    return page;
  }, [id, memory.version, memory.updated]);
  const versions = [...(first.value?.versions ?? []), ...more];
  const restore = async (version: Version) => {
    try {
      const { changes } = await api.restore(id, version.change.change, memory.project);
      again();
      first.again();
      sayDone(t("version.restored"), memory.project, changes, () => { again(); first.again(); });
    } catch (why) {
      complain(why);
    }
  };
  return (
    <section class="card versions" aria-label={t("memory.versions")}>
      <h2>{t("memory.versions")} {versions.length > 0 && <span class="count">{versions.length}{next ? "+" : ""}</span>}</h2>
      {first.problem ? <Failed problem={first.problem} again={first.again} /> : !first.value ? <Skeleton lines={1} /> : null}
      <ol class="version-list">
        {versions.map((version, index) => {
          const older = versions[index + 1];
          return (
            <li key={version.change.change}>
              <details open={index === 0 && versions.length > 1}>
                <summary>
                  <Icon name="right" size={14} />
                  <strong>{moment(version.change.at)}</strong>
                  <Author author={version.change} />
                  {version.current && <Chip kind="on">{t("version.current")}</Chip>}
                  {version.differs.map((field) => <Chip key={field}>{fieldWords(field)}</Chip>)}
                </summary>
                {older ? <Differences before={older.memory} after={version.memory} /> : next ? <p class="muted">{t("version.older")}</p> : <Differences before={null} after={version.memory} />}
                {writes && !version.current && <Button icon="undo" onClick={() => restore(version)}>{t("version.restore")}</Button>}
              </details>
            </li>
          );
        })}
      </ol>
      {next && (
        <Button onClick={() => api.versions(id, memory.project, next).then((page) => { setMore([...more, ...page.versions]); setNext(page.next); }, complain)}>
          {t("action.more")}
        </Button>
      )}
    </section>
  );
}

const NAMED = ["name", "kind", "tags", "scope", "observations", "metadata", "summary", "superseded_by"] as const;

function fieldWords(field: string): string {
  const known = NAMED.find((one) => one === field);
  if (!known) return field;
  return known === "superseded_by" ? t("field.superseded") : t(`field.${known}`);
}
