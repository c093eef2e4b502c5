import { MultiDirectedGraph } from "graphology";
import type { GraphAnswer, GraphNode } from "../api/types";

/** What is drawn: the nodes and links seen so far. Answers are added to it, and nothing is drawn twice. */

export interface Node {
  x: number;
  y: number;
  size: number;
  /** The title as it is stored; the label is what there is room for. */
  title: string;
  label: string;
  color: string;
  id: string | null;
  kind: string;
  scope: string;
  degree: number;
  community: number | null;
  missing: boolean;
}

export interface Link {
  kind: string;
  automatic: boolean;
  size: number;
  label: string;
}

export type Model = MultiDirectedGraph<Node, Link>;

/** Colours that keep apart by lightness as well as by hue, for light and dark paper. */
const LIGHT = ["#5b4bc4", "#0f7f78", "#b4530c", "#a8328a", "#2567b5", "#6f7a12", "#b3303f", "#4a7d2c", "#7a5230", "#3f6d86"];
const DARK = ["#a89bff", "#4fd1c1", "#f5a45d", "#f08ad4", "#7db8ff", "#c9d45a", "#ff8f96", "#93d06c", "#d3a67e", "#8fc3dd"];

export function colourOf(community: number | null, dark: boolean): string {
  if (community === null) return dark ? "#8a8a93" : "#77757d";
  const colours = dark ? DARK : LIGHT;
  return colours[community % colours.length]!;
}

export function empty(): Model {
  return new MultiDirectedGraph<Node, Link>();
}

export function keyOf(node: GraphNode): string {
  return node.id ?? `\u0000${node.title}`;
}

/** Adds an answer; what is new begins near the node it belongs to. */
export function add(model: Model, answer: GraphAnswer, dark: boolean, near: string | null): void {
  const from = near && model.hasNode(near) ? model.getNodeAttributes(near) : { x: 0, y: 0 };
  const keys = answer.nodes.map(keyOf);
  const begin = near ? spiral(answer.nodes.length, 30) : grouped(answer.nodes);
  const crowd = Math.max(model.order, answer.nodes.length);
  const scale = crowd > 2_000 ? 0.45 : crowd > 500 ? 0.7 : 1;
  answer.nodes.forEach((node, place) => {
    const key = keys[place]!;
    const known = model.hasNode(key);
    const [x, y] = begin[place]!;
    model.mergeNode(key, {
      ...(known ? {} : { x: from.x + x, y: from.y + y }),
      size: Math.min(18, 4 + Math.sqrt(node.degree) * 1.6) * scale,
      title: node.title,
      label: shortened(node.title),
      color: colourOf(near && known ? model.getNodeAttribute(key, "community") : node.community, dark),
      id: node.id,
      kind: node.kind ?? "",
      scope: node.scope ?? "",
      degree: node.degree,
      community: near && known ? model.getNodeAttribute(key, "community") : node.community,
      missing: node.missing,
    });
  });
  for (const [source, target, type, strength, automatic] of answer.edges) {
    const kind = answer.types[type]?.[0] ?? "";
    const key = `${keys[source]}\u0001${kind}\u0001${keys[target]}`;
    if (!model.hasEdge(key)) model.addEdgeWithKey(key, keys[source]!, keys[target]!, { kind, automatic, size: 1 + (strength ?? 0), label: shortened(kind) });
  }
}

type Place = readonly [x: number, y: number];

/** So many places, spread evenly over a disc by the golden angle: the same answer looks the same every time. */
function spiral(count: number, radius: number): Place[] {
  return Array.from({ length: count }, (_, place) => {
    const far = radius * Math.sqrt((place + 1) / count);
    return [far * Math.cos(place * 2.399963), far * Math.sin(place * 2.399963)];
  });
}

/** Where nodes begin: each community on a disc of its own, so that the forces need not untangle them first. */
function grouped(nodes: readonly GraphNode[]): Place[] {
  const groups = new Map<number | null, number[]>();
  nodes.forEach((node, place) => void groups.set(node.community, [...(groups.get(node.community) ?? []), place]));
  const found: Place[] = [];
  const centres = spiral(groups.size, Math.sqrt(nodes.length) * 30);
  [...groups.values()].sort((a, b) => b.length - a.length).forEach((members, group) => {
    const [x, y] = groups.size > 1 ? centres[group]! : [0, 0];
    spiral(members.length, Math.sqrt(members.length) * 18).forEach(([right, down], at) => void (found[members[at]!] = [x + right, y + down]));
  });
  return found;
}

export function recolour(model: Model, dark: boolean): void {
  model.updateEachNodeAttributes((_, node) => ({ ...node, color: colourOf(node.community, dark) }), { attributes: ["color"] });
}

export interface Community {
  readonly community: number;
  readonly size: number;
  /** Its best connected member, by which people know it. */
  readonly label: string;
}

/** Communities of more than one node, largest first. */
export function communitiesOf(model: Model): Community[] {
  const found = new Map<number, { size: number; label: string; degree: number }>();
  model.forEachNode((_, node) => {
    if (node.community === null) return;
    const known = found.get(node.community) ?? { size: 0, label: "", degree: -1 };
    const best = node.degree > known.degree ? { label: node.label, degree: node.degree } : known;
    found.set(node.community, { ...best, size: known.size + 1 });
  });
  return [...found].map(([community, { size, label }]) => ({ community, size, label })).filter((one) => one.size > 1).sort((a, b) => b.size - a.size);
}

/** Types of relations with how many there are, most frequent first. */
export function typesOf(model: Model): [string, number][] {
  const counts = new Map<string, number>();
  model.forEachEdge((_, link) => void counts.set(link.kind, (counts.get(link.kind) ?? 0) + 1));
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function shortened(text: string): string {
  const plain = text.replace(/[\u0000-\u001F\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]+/gu, " ");
  const letters = [...plain.slice(0, 120)];
  return letters.length > 36 ? `${letters.slice(0, 35).join("")}…` : plain;
}
