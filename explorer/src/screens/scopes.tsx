import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { about, api } from "../api/client";
import type { ProjectTree, ScopeCount } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { go, href, type Route } from "../route";
import { Icon } from "../ui/icons";
import { letter } from "../ui/keys";
import { Button, complain, Dialog, Empty, Failed, Field, Skeleton } from "../ui/parts";
import { Name } from "../ui/stored";
import { number } from "../ui/time";
import { sayDone } from "../writing";
import { t } from "../words";

/** What is dragged: no other page and no file can be taken for it. */
const DRAGGED = "text/x-polymnia-scope";

export function ScopesScreen({ route }: { route: Route }): JSX.Element {
  useTitle(t("nav.scopes"));
  const project = route.given["project"];
  const tree = useAsked(() => api.tree(project), [project]);
  return (
    <div class="scopes">
      <h1>{t("nav.scopes")}</h1>
      <p class="muted">{t(about.value?.access.write ? "scopes.help" : "scopes.help.reads")}</p>
      {tree.problem ? (
        <Failed problem={tree.problem} again={tree.again} />
      ) : !tree.value ? (
        <Skeleton lines={3} />
      ) : tree.value.projects.length === 0 ? (
        <Empty icon="scopes" title={t("scopes.none")} />
      ) : (
        tree.value.projects.map((one) => <Project key={one.project} tree={one} again={tree.again} />)
      )}
    </div>
  );
}

function Project({ tree, again }: { tree: ProjectTree; again: () => void }): JSX.Element {
  const scopes = new Map(tree.scopes.map((one) => [one.path, one]));
  const below = new Set(tree.scopes.flatMap((one) => one.children));
  const roots = tree.scopes.filter((one) => !below.has(one.path));
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [moving, setMoving] = useState<string | null>(null);
  const [over, setOver] = useState<string | null>(null);
  const [focused, setFocused] = useState<string | null>(roots[0]?.path ?? null);
  const list = useRef<HTMLUListElement>(null);
  const writes = about.value?.access.write ?? false;

  const move = async (from: string, to: string) => {
    if (from === to || to.startsWith(`${from}/`)) return;
    try {
      const { moved, changes } = await api.moveScope(tree.project, from, to);
      again();
      sayDone(t("scopes.moved", { n: moved, to }), tree.project, changes, again);
    } catch (why) {
      complain(why);
    }
  };
  const drag = (event: DragEvent, path: string) => {
    if (!event.dataTransfer?.types.includes(DRAGGED)) return;
    event.preventDefault();
    setOver(path);
  };
  const drop = (event: DragEvent, below: string) => {
    event.preventDefault();
    setOver(null);
    const [project, from] = JSON.parse(event.dataTransfer?.getData(DRAGGED) || "[]") as [string?, string?];
    if (project === tree.project && from) void move(from, below + from.split("/").at(-1));
  };
  const visible: string[] = [];
  const walk = (one: ScopeCount) => {
    visible.push(one.path);
    if (!closed.has(one.path)) for (const child of one.children) if (scopes.has(child)) walk(scopes.get(child)!);
  };
  roots.forEach(walk);
  const focus = (path: string | undefined) => {
    if (!path) return;
    setFocused(path);
    [...(list.current?.querySelectorAll<HTMLElement>("[role=treeitem]") ?? [])].find((one) => one.dataset["path"] === path)?.focus();
  };
  const flip = (path: string, shut: boolean) => setClosed((all) => { const next = new Set(all); if (shut) next.add(path); else next.delete(path); return next; });
  const pressed = (event: KeyboardEvent) => {
    const path = (event.target as HTMLElement).dataset["path"];
    if (path === undefined) return;
    const at = visible.indexOf(path);
    const one = scopes.get(path)!;
    const open = !closed.has(path) && one.children.length > 0;
    if (event.key === "ArrowDown") focus(visible[at + 1]);
    else if (event.key === "ArrowUp") focus(visible[at - 1]);
    else if (event.key === "Home") focus(visible[0]);
    else if (event.key === "End") focus(visible.at(-1));
    else if (event.key === "ArrowRight") { if (open) focus(one.children[0]); else flip(path, false); }
    else if (event.key === "ArrowLeft") { if (open) flip(path, true); else focus(tree.scopes.find((other) => other.children.includes(path))?.path); }
    else if (event.key === "Enter") go(href("search", { project: tree.project, scope: path }));
    else if ((letter(event) === "m" || event.key === "F2") && writes) setMoving(path);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const item = (one: ScopeCount, level: number): JSX.Element => {
    const children = one.children.map((child) => scopes.get(child)).filter((child) => child !== undefined);
    const open = children.length > 0 && !closed.has(one.path);
    const label = one.path.split("/").at(-1) ?? one.path;
    return (
      <li
        key={one.path}
        role="none"
      >
        <div
          role="treeitem"
          data-path={one.path}
          tabIndex={focused === one.path ? 0 : -1}
          aria-level={level}
          aria-expanded={children.length ? open : undefined}
          aria-selected={focused === one.path}
          onFocus={() => setFocused(one.path)}
          class={over === one.path ? "scope-row over" : "scope-row"}
          draggable={writes}
          onDragStart={(event) => { event.stopPropagation(); event.dataTransfer?.setData(DRAGGED, JSON.stringify([tree.project, one.path])); if (event.dataTransfer) event.dataTransfer.effectAllowed = "move"; }}
          onDragOver={(event) => drag(event, one.path)}
          onDragLeave={() => setOver(null)}
          onDrop={(event) => drop(event, `${one.path}/`)}
        >
          <button type="button" class="twist" tabIndex={-1} aria-hidden="true" onClick={() => children.length && flip(one.path, open)}>
            {children.length > 0 && <Icon name={open ? "down" : "right"} size={14} />}
          </button>
          <Icon name="scopes" size={16} />
          <a tabIndex={-1} href={href("search", { project: tree.project, scope: one.path })}><Name text={level === 1 ? one.path : label} /></a>
          <span class="facet-count">{number(one.total)}</span>
          {writes && <button type="button" class="button quiet move" tabIndex={-1} onClick={() => setMoving(one.path)}>{t("scopes.move")}</button>}
        </div>
        {open && <ul role="group">{children.map((child) => item(child, level + 1))}</ul>}
      </li>
    );
  };

  return (
    <section class="card">
      <div class={over === "" ? "title-row scope-row over" : "title-row"} onDragOver={(event) => drag(event, "")} onDragLeave={() => setOver(null)} onDrop={(event) => drop(event, "")}>
        <h2><a href={href("search", { project: tree.project })}><Name text={tree.project} /></a></h2>
        <p class="muted">{t("count.memories", { n: tree.memories })} · {t("count.relations", { n: tree.relations })}</p>
      </div>
      {tree.kinds.length > 0 && (
        <p class="meta">
          {tree.kinds.slice(0, 10).map(([kind, count]) => (
            <a key={kind} class="tag" href={href("search", { project: tree.project, kind })}><Name text={kind} /> {number(count)}</a>
          ))}
        </p>
      )}
      {roots.length > 0 && <ul ref={list} class="tree" role="tree" aria-label={t("scopes.tree", { project: tree.project })} onKeyDown={pressed}>{roots.map((one) => item(one, 1))}</ul>}
      {moving !== null && <MoveDialog from={moving} scopes={tree.scopes} onClose={() => setMoving(null)} then={(to) => { setMoving(null); void move(moving, to); }} />}
    </section>
  );
}

function MoveDialog({ from, scopes, onClose, then }: { from: string; scopes: readonly ScopeCount[]; onClose: () => void; then: (to: string) => void }): JSX.Element {
  const [to, setTo] = useState(from);
  const joins = to !== from && scopes.some((one) => one.path === to);
  return (
    <Dialog title={t("scopes.move.title", { from })} onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); if (to.trim() && to !== from) then(to.trim()); }}>
        <Field label={t("scopes.move.to")} help={joins ? t("scopes.joins") : t("scopes.move.help")}>
          {(id) => <input id={id} dir="auto" required autofocus value={to} onInput={(event) => setTo(event.currentTarget.value)} />}
        </Field>
        <footer>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button submit kind="main" disabled={!to.trim() || to === from}>{t("scopes.move")}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
