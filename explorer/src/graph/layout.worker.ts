import iterate from "graphology-layout-forceatlas2/iterate";

/** Finds places for nodes, apart from the page, so that it stays quick. Speaks in plain arrays. */

export interface LayoutTask {
  /** x, y of each node. */
  readonly places: Float32Array;
  /** Pairs of places in the list of nodes. */
  readonly links: Uint32Array;
  readonly rounds: number;
}

export interface LayoutNews {
  readonly places: Float32Array;
  readonly done: boolean;
}

const PER_NODE = 10;
const PER_LINK = 3;
/** How often the page hears of it, in milliseconds. */
const NEWS = 120;

function work(task: LayoutTask): void {
  const count = task.places.length / 2;
  const linked = new Set(task.links);
  // Without a tie to anything the forces would drive a node far away, and the rest would shrink to a dot.
  const tied = [...Array(count).keys()].filter((node) => linked.has(node));
  const alone = [...Array(count).keys()].filter((node) => !linked.has(node));
  const row = new Map(tied.map((node, at) => [node, at * PER_NODE]));
  const nodes = new Float32Array(tied.length * PER_NODE);
  const links = new Float32Array((task.links.length / 2) * PER_LINK);
  for (const [node, at] of row) {
    nodes[at] = task.places[node * 2]!;
    nodes[at + 1] = task.places[node * 2 + 1]!;
    nodes[at + 6] = 1; // mass
    nodes[at + 7] = 1; // convergence
    nodes[at + 8] = 1; // size
  }
  for (let link = 0; link < task.links.length / 2; link++) {
    const source = row.get(task.links[link * 2]!)!;
    const target = row.get(task.links[link * 2 + 1]!)!;
    links.set([source, target, 1], link * PER_LINK);
    nodes[source + 6]! += 1;
    nodes[target + 6]! += 1;
  }
  const many = tied.length > 500;
  const settings = {
    linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 0, strongGravityMode: !many,
    scalingRatio: many ? 8 : 20, gravity: many ? 0.6 : 0.25, slowDown: 1 + Math.log(tied.length + 1), barnesHutOptimize: tied.length > 400, barnesHutTheta: 0.7,
  };
  const tell = (done: boolean) => {
    const places = new Float32Array(count * 2);
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (const [node, at] of row) {
      const [x, y] = [nodes[at]!, nodes[at + 1]!];
      places.set([x, y], node * 2);
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    }
    ring(places, alone, tied.length ? [(left + right) / 2, (top + bottom) / 2] : [0, 0], tied.length ? Math.hypot(right - left, bottom - top) / 2 : 0);
    postMessage({ places, done } satisfies LayoutNews, { transfer: [places.buffer] });
  };
  let last = performance.now();
  for (let round = 0; round < (tied.length ? task.rounds : 0); round++) {
    iterate(settings, nodes, links);
    if (performance.now() - last > NEWS) {
      tell(false);
      last = performance.now();
    }
  }
  tell(true);
}

/** Lays nodes in a spiral around the others; alone, it fills a disc. */
function ring(places: Float32Array, nodes: readonly number[], [x, y]: readonly number[], radius: number): void {
  const room = Math.max(radius * 0.16, 24);
  nodes.forEach((node, at) => {
    const angle = at * 2.399963;
    const far = Math.sqrt(radius ** 2 + (at + 1) * room ** 2 * 0.6) + (radius ? room * 0.4 : 0);
    places.set([x! + far * Math.cos(angle), y! + far * Math.sin(angle)], node * 2);
  });
}

addEventListener("message", (event: MessageEvent<LayoutTask>) => work(event.data));
