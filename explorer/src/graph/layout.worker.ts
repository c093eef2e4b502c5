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
  const nodes = new Float32Array(count * PER_NODE);
  const links = new Float32Array((task.links.length / 2) * PER_LINK);
  for (let node = 0; node < count; node++) {
    nodes[node * PER_NODE] = task.places[node * 2]!;
    nodes[node * PER_NODE + 1] = task.places[node * 2 + 1]!;
    nodes[node * PER_NODE + 6] = 1; // mass
    nodes[node * PER_NODE + 7] = 1; // convergence
    nodes[node * PER_NODE + 8] = 1; // size
  }
  for (let link = 0; link < task.links.length / 2; link++) {
    const source = task.links[link * 2]! * PER_NODE;
    const target = task.links[link * 2 + 1]! * PER_NODE;
    links.set([source, target, 1], link * PER_LINK);
    nodes[source + 6]! += 1;
    nodes[target + 6]! += 1;
  }
  const settings = {
    linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 0, strongGravityMode: false,
    scalingRatio: count > 500 ? 8 : 20, gravity: count > 500 ? 0.6 : 1.2, slowDown: 1 + Math.log(count + 1), barnesHutOptimize: count > 400, barnesHutTheta: 0.7,
  };
  let last = performance.now();
  for (let round = 0; round < task.rounds; round++) {
    iterate(settings, nodes, links);
    if (performance.now() - last > NEWS) {
      tell(nodes, count, false);
      last = performance.now();
    }
  }
  tell(nodes, count, true);
}

function tell(nodes: Float32Array, count: number, done: boolean): void {
  const places = new Float32Array(count * 2);
  for (let node = 0; node < count; node++) {
    places[node * 2] = nodes[node * PER_NODE]!;
    places[node * 2 + 1] = nodes[node * PER_NODE + 1]!;
  }
  postMessage({ places, done } satisfies LayoutNews, { transfer: [places.buffer] });
}

addEventListener("message", (event: MessageEvent<LayoutTask>) => work(event.data));
