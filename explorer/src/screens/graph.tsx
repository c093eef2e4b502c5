import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api/client";
import type { GraphAnswer } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { dark } from "../choices";
import { download, graphml, svg } from "../graph/files";
import { add, colourOf, communitiesOf, empty, recolour, typesOf, type Model } from "../graph/model";
import type { View } from "../graph/view";
import { decode, go, href, type Route } from "../route";
import { Button, complain, Empty, Failed, Select, Skeleton, Tabs } from "../ui/parts";
import { Name } from "../ui/stored";
import { number } from "../ui/time";
import { NameField } from "../ui/name-field";
import { t } from "../words";

/** Where nobody has named a memory, the best connected ones are where to begin. */
const OVERVIEW = 120;

export function GraphScreen({ route, project }: { route: Route; project: string }): JSX.Element {
  const { given } = route;
  const at = given["at"];
  const whole = given["whole"] === "1";
  const depth = Math.min(4, Math.max(1, Number(given["depth"] ?? 1) || 1));
  useTitle(t("nav.graph"));
  const asked = useAsked(
    (signal) => api.graph(whole || !at ? { project, choose: "connected", ...(whole ? {} : { limit: OVERVIEW }) } : { project, id: at, depth }, signal),
    [project, whole, whole ? "" : at, depth],
  );
  const set = (more: Record<string, string | null>) => go(href("graph", { ...given, project, ...more }));
  const [name, setName] = useState("");
  return (
    <div class="graph">
      <div class="title-row">
        <h1>{t("nav.graph")}</h1>
        <Tabs
          label={t("nav.graph")}
          value={whole ? "whole" : "around"}
          tabs={[["around", t("graph.around")], ["whole", t("graph.whole")]]}
          onChange={(value) => set(value === "whole" ? { whole: "1" } : { whole: null })}
        />
        {at && !whole && (
          <Select label={t("graph.depth")} beside value={String(depth)} options={["1", "2", "3", "4"].map((one) => [one, one] as const)} onChange={(value) => set({ depth: value === "1" ? null : value })} />
        )}
        <form
          class="graph-find"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim()) set({ at: name.trim(), whole: null });
          }}
        >
          <NameField label={t("graph.find")} hideLabel project={project} value={name} onChange={setName} />
          <Button submit icon="search" label={t("graph.find")} />
        </form>
      </div>
      {asked.problem ? (
        <Failed problem={asked.problem} again={asked.again} />
      ) : !asked.value || asked.busy ? (
        <Skeleton lines={4} />
      ) : asked.value.nodes.length === 0 ? (
        <Empty icon="graph" title={t("graph.none")}><p>{t("graph.none.help")}</p></Empty>
      ) : (
        <Drawn key={`${project}|${whole ? "*" : (at ?? "")}|${depth}`} answer={asked.value} project={project} given={given} whole={whole} set={set} />
      )}
    </div>
  );
}

function Drawn(given: { answer: GraphAnswer; project: string; given: Route["given"]; whole: boolean; set: (more: Record<string, string | null>) => void }): JSX.Element {
  const { answer, project, whole, set } = given;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<View | null>(null);
  const [chosen, choose] = useState<string | null>(null);
  const [turn, redraw] = useState(0);
  const [moving, setMoving] = useState(true);
  const [community, setCommunity] = useState<number | null>(null);
  const [drawable, setDrawable] = useState(true);
  const hidden = useMemo(() => new Set((given.given["hide"] ?? "").split(",").filter(Boolean).map(decode)), [given.given["hide"]]);
  const automatic = given.given["automatic"] !== "0";
  const model = useMemo<Model>(() => {
    const made = empty();
    add(made, answer, dark.value, null);
    return made;
  }, [answer]);
  const shade = dark.use();

  const pick = (key: string) => {
    choose(key);
    view.current?.choose(key);
    const node = model.getNodeAttributes(key);
    if (node.id && node.degree > model.degree(key)) void expand(key, node.id);
  };
  const expand = async (key: string, id: string) => {
    try {
      const order = model.order;
      add(model, await api.graph({ project, id, depth: 1 }), dark.value, key);
      redraw((at) => at + 1);
      if (model.order > order) {
        setMoving(true);
        view.current?.arrange(whole ? 60 : 250);
      }
    } catch (why) {
      complain(why);
    }
  };
  const open = (key: string) => {
    const id = model.getNodeAttribute(key, "id");
    if (id) go(href("memory", { project }, id));
  };
  const heard = useRef({ pick, open });
  heard.current = { pick, open };

  useEffect(() => {
    let gone = false;
    // The library that draws is loaded by who looks at a graph, and by nobody else.
    import("../graph/view").then(({ View, canDraw }) => {
      if (gone || !place.current) return;
      if (!canDraw()) {
        setDrawable(false);
        return;
      }
      view.current = new View(
        model, place.current,
        { pick: (key) => heard.current.pick(key), open: (key) => heard.current.open(key), away: () => { choose(null); view.current?.choose(null); } },
        (done) => setMoving(!done),
      );
      view.current.filter(hidden, automatic);
      view.current.arrange(model.order > 1_000 ? 250 : 500);
    }, complain);
    return () => {
      gone = true;
      view.current?.kill();
      view.current = null;
    };
  }, [model]);
  useEffect(() => view.current?.filter(hidden, automatic), [hidden, automatic]);
  useEffect(() => {
    recolour(model, shade);
    view.current?.repaint();
  }, [shade]);

  const toggle = (kind: string) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    set({ hide: [...next].map(encodeURIComponent).join(",") || null });
  };
  const save = async (kind: string) => {
    try {
      const file = kind === "png" ? await view.current!.png() : new Blob([kind === "svg" ? svg(model, (type, drawn) => !hidden.has(type) && (automatic || !drawn)) : graphml(model)], { type: kind === "svg" ? "image/svg+xml" : "application/xml" });
      download(`${project}.${kind}`, file);
    } catch (why) {
      complain(why);
    }
  };
  const size = `${t("count.memories", { n: model.order })}, ${t("count.relations", { n: model.size })}`;
  const types = useMemo(() => typesOf(model), [model, turn]);
  const communities = useMemo(() => communitiesOf(model), [model, turn]);
  const lightUp = (one: number) => {
    const next = community === one ? null : one;
    setCommunity(next);
    view.current?.only(next);
  };
  return (
    <div class="graph-columns">
      <div class="canvas-frame">
        {drawable ? <div ref={place} class="canvas" role="img" aria-label={t("graph.picture", { what: size })} data-moving={moving} data-nodes={model.order} /> : <Empty icon="graph" title={t("graph.no_webgl")}><p>{t("graph.no_webgl.help")}</p></Empty>}
        <div class="canvas-tools">
          <Button icon="plus" kind="quiet" label={t("graph.closer")} onClick={() => view.current?.zoom(0.7)} />
          <Button icon="minus" kind="quiet" label={t("graph.further")} onClick={() => view.current?.zoom(1 / 0.7)} />
          <Button icon="fit" kind="quiet" label={t("graph.fit")} onClick={() => view.current?.fit()} />
          <Button icon={moving ? "pause" : "play"} kind="quiet" label={t(moving ? "graph.stop" : "graph.arrange")} onClick={() => { if (moving) { view.current?.stop(); setMoving(false); } else { setMoving(true); view.current?.arrange(300); } }} />
        </div>
        <p class="canvas-state" role="status">
          {size}
          {answer.cut && ` · ${t("graph.cut", { n: number(answer.memories) })}`}
        </p>
      </div>
      <aside class="graph-side">
        {chosen && model.hasNode(chosen) ? <Chosen model={model} project={project} node={chosen} pick={pick} set={set} centre={(key) => view.current?.centre(key)} away={() => { choose(null); view.current?.choose(null); }} /> : <Largest model={model} turn={turn} pick={(key) => { pick(key); view.current?.centre(key); }} />}
        <section class="card">
          <h2>{t("graph.types")}</h2>
          <div class="checks">
            {types.map(([kind, count]) => (
              <label key={kind} class="check">
                <input type="checkbox" checked={!hidden.has(kind)} onChange={() => toggle(kind)} />
                <Name text={kind} /> <span class="facet-count">{number(count)}</span>
              </label>
            ))}
            <label class="check">
              <input type="checkbox" checked={automatic} onChange={() => set({ automatic: automatic ? "0" : null })} />
              {t("graph.automatic")}
            </label>
          </div>
        </section>
        {communities.length > 0 && (
          <section class="card">
            <h2>{t("graph.communities")}</h2>
            {communities.slice(0, 8).map((one) => (
              <button key={one.community} type="button" class="facet" aria-pressed={community === one.community} onClick={() => lightUp(one.community)}>
                <svg class="swatch" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="6" fill={colourOf(one.community, shade)} /></svg>
                <span class="facet-name"><Name text={one.label} /></span>
                <span class="facet-count">{number(one.size)}</span>
              </button>
            ))}
            {communities.length > 8 && <p class="hint">{t("timeline.others", { n: number(communities.length - 8) })}</p>}
          </section>
        )}
        <section class="card">
          <h2>{t("graph.export")}</h2>
          <div class="actions">
            {["png", "svg", "graphml"].map((kind) => (
              <Button key={kind} icon="download" disabled={kind === "png" && !drawable} onClick={() => save(kind)}>{kind === "graphml" ? "GraphML" : kind.toUpperCase()}</Button>
            ))}
          </div>
        </section>
      </aside>
    </div>
  );
}

function Chosen(given: { model: Model; project: string; node: string; pick: (key: string) => void; set: (more: Record<string, string | null>) => void; centre: (key: string) => void; away: () => void }): JSX.Element {
  const { model, project, node: key } = given;
  const node = model.getNodeAttributes(key);
  const links: { edge: string; kind: string; other: string; out: boolean }[] = [];
  model.forEachEdge(key, (edge, link, source, target) => void links.push({ edge, kind: link.kind, other: source === key ? target : source, out: source === key }));
  return (
    <section class="card chosen-node" aria-live="polite">
      <div class="title-row">
        <h2><Name text={node.title} /></h2>
        <Button icon="close" kind="quiet" label={t("action.close")} onClick={given.away} />
      </div>
      <p class="meta"><span class="chip kind"><Name text={node.kind || t("graph.missing")} /></span> <span>{t("graph.degree", { n: node.degree })}</span></p>
      <div class="actions">
        {node.id && <a class="button main" href={href("memory", { project }, node.id)}>{t("graph.open")}</a>}
        {node.id && <Button onClick={() => given.set({ at: node.id!, whole: null })}>{t("graph.around.this")}</Button>}
        <Button icon="fit" kind="quiet" label={t("graph.centre")} onClick={() => given.centre(key)} />
      </div>
      <ul class="relations">
        {links.slice(0, 60).map((link) => (
          <li key={link.edge}>
            <span class="relation-type"><span aria-hidden="true">{link.out ? "→" : "←"}</span> <Name text={link.kind} /></span>
            <button type="button" class="quiet" onClick={() => given.pick(link.other)}><Name text={model.getNodeAttribute(link.other, "label")} /></button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The same graph as a list: for the keyboard, for readers of screens, and to begin somewhere. */
function Largest({ model, turn, pick }: { model: Model; turn: number; pick: (key: string) => void }): JSX.Element {
  const nodes = useMemo(() => model.mapNodes((key, node) => ({ key, node })).sort((a, b) => b.node.degree - a.node.degree).slice(0, 12), [model, turn]);
  return (
    <section class="card">
      <h2>{t("graph.largest")}</h2>
      <ul>
        {nodes.map(({ key, node }) => (
          <li key={key}>
            <button type="button" class="facet" onClick={() => pick(key)}>
              <span class="facet-name"><Name text={node.label} /></span>
              <span class="facet-count">{number(node.degree)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
