import Sigma from "sigma";
import { EdgeLineProgram, NodePointProgram } from "sigma/rendering";
import type { NodeDisplayData, PartialButFor, RenderParams } from "sigma/types";
import type { Settings } from "sigma/settings";
import type { LayoutNews, LayoutTask } from "./layout.worker";
import type { Link, Model, Node } from "./model";

/** The drawing itself: sigma with our colours, a layout in a worker, and what is highlighted. */

type Labelled = PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color">;
type Heard = { pick: (key: string) => void; open: (key: string) => void; away: () => void };

/** Beyond so many nodes, while the picture moves, only they are drawn. */
const CROWD = 2_000;

/** Dragged, zoomed, or on its way to a place by itself. */
function moves(sigma: Sigma<Node, Link>): boolean {
  const mouse = sigma.getMouseCaptor();
  return sigma.getCamera().isAnimated() || mouse.isMoving || mouse.draggedEvents > 0 || mouse.currentWheelDirection !== 0;
}

/** Nobody points at a node of a crowd that moves: what would find it under the pointer is not drawn until it is still. */
class Points extends NodePointProgram<Node, Link> {
  override render(params: RenderParams): void {
    const picking = this.pickProgram;
    if (this.renderer.getGraph().order > CROWD && moves(this.renderer)) this.pickProgram = null;
    super.render(params);
    this.pickProgram = picking;
  }
}

/** Beyond so many links arrows and names of links are noise. */
const FEW = 1_200;

export class View {
  readonly sigma: Sigma<Node, Link>;
  private worker: Worker | null = null;
  private chosen: string | null = null;
  private over: string | null = null;
  private community: number | null = null;
  private near = new Set<string>();
  private hidden: ReadonlySet<string> = new Set();
  private automatic = true;
  private colours = palette();
  private frame = 0;
  /** Where labels of this frame are: left, top, right, bottom. */
  private labels: (readonly [number, number, number, number])[] = [];

  constructor(
    private readonly model: Model,
    private readonly place: HTMLElement,
    heard: Heard,
    private readonly arranged: (done: boolean) => void,
  ) {
    const many = model.size > FEW;
    this.sigma = new Sigma<Node, Link>(model, place, {
      ...this.drawing(),
      // One vertex a node and two a link: what is drawn as instances of a shape, as the defaults are, is slow without a graphics card.
      nodeProgramClasses: { circle: Points },
      edgeProgramClasses: { line: EdgeLineProgram },
      defaultEdgeType: many ? "line" : "arrow",
      renderEdgeLabels: !many,
      labelDensity: 0.6,
      labelGridCellSize: 110,
      labelRenderedSizeThreshold: model.order > 600 ? 8 : 4,
      zIndex: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      stagePadding: 50,
      allowInvalidContainer: true,
      hideLabelsOnMove: model.order > CROWD,
      hideEdgesOnMove: model.size > 3_000,
      nodeReducer: (key, node) => this.node(key, node),
      edgeReducer: (key, link) => this.link(key, link),
    });
    // To read what is under the pointer waits until everything is drawn, at every turn of the wheel.
    const under = this.sigma["getNodeAtPosition"].bind(this.sigma);
    this.sigma["getNodeAtPosition"] = (at: { x: number; y: number }) => (model.order > CROWD && moves(this.sigma) ? this.over : under(at));
    this.sigma.on("beforeRender", () => {
      this.labels = [];
      // Layers that stay empty meanwhile would be put together with the others for every frame all the same.
      place.classList.toggle("moves", model.order > CROWD && moves(this.sigma));
    });
    this.sigma.on("clickNode", ({ node }) => heard.pick(node));
    this.sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      heard.open(node);
    });
    this.sigma.on("clickStage", () => heard.away());
    this.sigma.on("enterNode", ({ node }) => this.hover(node));
    this.sigma.on("leaveNode", () => this.hover(null));
  }

  /** Nothing moves by itself once the layout has found its places. */
  arrange(rounds: number): void {
    this.stop();
    const keys = this.model.nodes();
    if (!keys.length) return;
    const index = new Map(keys.map((key, place) => [key, place]));
    const places = new Float32Array(keys.length * 2);
    keys.forEach((key, place) => {
      const { x, y } = this.model.getNodeAttributes(key);
      places.set([x, y], place * 2);
    });
    const links = new Uint32Array(this.model.size * 2);
    let at = 0;
    this.model.forEachEdge((_, __, source, target) => {
      links[at++] = index.get(source)!;
      links[at++] = index.get(target)!;
    });
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<LayoutNews>) => {
      const found = event.data.places;
      this.model.updateEachNodeAttributes(
        (key, node) => {
          const place = index.get(key);
          if (place !== undefined) {
            node.x = found[place * 2]!;
            node.y = found[place * 2 + 1]!;
          }
          return node;
        },
        { attributes: ["x", "y"] },
      );
      if (event.data.done) this.stop();
      this.arranged(event.data.done);
    };
    worker.postMessage({ places, links, rounds } satisfies LayoutTask);
  }

  stop(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  choose(key: string | null): void {
    this.chosen = key;
    this.light();
  }

  /** Lights one community and fades the others. */
  only(community: number | null): void {
    this.community = community;
    this.light();
  }

  /** Leaves out types of relations, and those the server drew; nodes that only they tied are faded. */
  filter(hidden: ReadonlySet<string>, automatic: boolean): void {
    this.hidden = hidden;
    this.automatic = automatic;
    this.sigma.refresh({ skipIndexation: true });
  }

  repaint(): void {
    this.colours = palette();
    this.sigma.setSettings(this.drawing());
    this.sigma.refresh();
  }

  fit(): void {
    void this.sigma.getCamera().animatedReset({ duration: calm() ? 0 : 300 });
  }

  centre(key: string): void {
    const shown = this.sigma.getNodeDisplayData(key);
    if (shown) void this.sigma.getCamera().animate({ x: shown.x, y: shown.y, ratio: Math.min(0.6, this.sigma.getCamera().ratio) }, { duration: calm() ? 0 : 300 });
  }

  zoom(by: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * by) }, { duration: calm() ? 0 : 150 });
  }

  async png(): Promise<Blob> {
    const { width, height } = this.sigma.getDimensions();
    const scale = devicePixelRatio || 1;
    const canvas = document.createElement("canvas");
    canvas.width = width * scale;
    canvas.height = height * scale;
    const paper = canvas.getContext("2d")!;
    paper.fillStyle = this.colours.paper;
    paper.fillRect(0, 0, canvas.width, canvas.height);
    // What WebGL has drawn is there only until the browser shows it: draw and copy in one go.
    this.sigma.refresh({ schedule: false });
    const layers = this.sigma.getCanvases();
    for (const name of ["edges", "edgeLabels", "nodes", "labels"]) {
      const layer = layers[name];
      if (layer) paper.drawImage(layer, 0, 0, canvas.width, canvas.height);
    }
    return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"));
  }

  kill(): void {
    this.stop();
    cancelAnimationFrame(this.frame);
    this.sigma.kill();
  }

  private hover(key: string | null): void {
    this.over = key;
    this.sigma.getContainer().classList.toggle("over-node", key !== null);
    this.light();
  }

  /** Once a frame at most: a pointer passes many nodes, and each would have everything drawn again. */
  private light(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.relight());
  }

  private relight(): void {
    const key = this.over ?? this.chosen;
    if (key && this.model.hasNode(key)) this.near = new Set([key, ...this.model.neighbors(key)]);
    else if (this.community !== null) this.near = new Set(this.model.filterNodes((_, node) => node.community === this.community));
    else this.near = new Set();
    this.sigma.refresh({ skipIndexation: true });
  }

  private node(key: string, node: Node): Partial<NodeDisplayData> {
    const lit = this.over ?? this.chosen;
    const faded = (lit !== null || this.community !== null) && !this.near.has(key);
    return {
      ...node,
      label: faded ? "" : node.label,
      color: faded ? this.colours.faded : node.color,
      zIndex: faded ? 0 : key === lit ? 2 : 1,
      highlighted: key === this.chosen,
      forceLabel: lit !== null && (key === lit || (this.near.has(key) && this.near.size < 25)),
    };
  }

  private link(key: string, link: Link): Record<string, unknown> {
    if (this.hidden.has(link.kind) || (!this.automatic && link.automatic)) return { hidden: true };
    const lit = this.over ?? this.chosen;
    if (lit === null && this.community === null) return { ...link, color: link.automatic ? this.colours.drawn : this.colours.link, label: "" };
    const [source, target] = this.model.extremities(key);
    const own = lit === null ? this.near.has(source) && this.near.has(target) : source === lit || target === lit;
    return { ...link, color: own ? this.colours.lit : this.colours.faint, zIndex: own ? 1 : 0, label: own ? link.label : "" };
  }

  /** A label where there is room for it: beside its node, on the left where the right one is outside, never over another. */
  private label(context: CanvasRenderingContext2D, node: Labelled & { forceLabel?: boolean }, { labelSize: size, labelWeight, labelFont }: Settings<Node, Link>): void {
    if (!node.label) return;
    context.font = `${labelWeight} ${size}px ${labelFont}`;
    const width = context.measureText(node.label).width;
    const right = node.x + node.size + 3;
    const left = right + width > this.place.clientWidth && node.x - node.size - 3 > width ? node.x - node.size - 3 - width : right;
    const box = [left, node.y - size * 0.6, left + width, node.y + size * 0.6] as const;
    if (!node.forceLabel && this.labels.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3])) return;
    this.labels.push(box);
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = this.colours.paper;
    context.strokeText(node.label, left, node.y + size / 3);
    context.fillStyle = this.colours.ink;
    context.fillText(node.label, left, node.y + size / 3);
  }

  private drawing(): Partial<Settings<Node, Link>> {
    const colours = this.colours;
    return {
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      labelWeight: "500",
      labelColor: { color: colours.ink },
      edgeLabelFont: "system-ui, sans-serif",
      edgeLabelSize: 10,
      edgeLabelColor: { color: colours.muted },
      defaultEdgeColor: colours.link,
      defaultNodeColor: colours.faded,
      defaultDrawNodeLabel: (context, node, settings) => this.label(context, node, settings),
      defaultDrawNodeHover: (context, node, settings) => drawHover(context, node, settings.labelSize, settings.labelFont, colours),
    };
  }
}

interface Colours {
  paper: string;
  ink: string;
  muted: string;
  link: string;
  drawn: string;
  lit: string;
  faint: string;
  faded: string;
}

/** The colours of the style sheet: a canvas knows nothing of them by itself. */
function palette(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(${name})`;
    const parts = getComputedStyle(probe).color.match(/[\d.]+/g)?.map(Number) ?? [128, 128, 128];
    return `#${parts.slice(0, 3).map((one) => Math.round(one).toString(16).padStart(2, "0")).join("")}`;
  };
  const colours = {
    paper: read("--paper"), ink: read("--ink"), muted: read("--muted"), link: read("--graph-link"), drawn: read("--graph-drawn"),
    lit: read("--accent"), faint: read("--graph-faint"), faded: read("--graph-faded"),
  };
  probe.remove();
  return colours;
}

function drawHover(context: CanvasRenderingContext2D, node: Labelled, size: number, font: string, colours: Colours): void {
  context.font = `600 ${size}px ${font}`;
  const label = node.label ?? "";
  const width = context.measureText(label).width;
  const left = node.x + node.size + 4;
  context.beginPath();
  context.arc(node.x, node.y, node.size + 3, 0, Math.PI * 2);
  context.strokeStyle = colours.lit;
  context.lineWidth = 2;
  context.stroke();
  if (!label) return;
  context.fillStyle = colours.paper;
  context.beginPath();
  context.roundRect(left, node.y - size * 0.85, width + 12, size * 1.7, 5);
  context.fill();
  context.fillStyle = colours.ink;
  context.fillText(label, left + 6, node.y + size / 3);
}

function calm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Whether this browser can draw it at all. */
export function canDraw(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}

