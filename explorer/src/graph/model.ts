import { MultiDirectedGraph } from "graphology";
import type { GraphAnswer, GraphNode } from "../api/types";

/** What is drawn: the nodes and links seen so far. Answers are added to it, and nothing is drawn twice. */

export interface Node {
  x: number;
  y: number;
  size: number;
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
  const spread = near ? 30 : Math.sqrt(answer.nodes.length) * 20;
  const keys = answer.nodes.map(keyOf);
  answer.nodes.forEach((node, place) => {
    const key = keys[place]!;
    const known = model.hasNode(key);
    // A golden angle spreads them evenly, and the same answer looks the same every time.
    const angle = place * 2.399963;
    const far = spread * Math.sqrt((place + 1) / answer.nodes.length);
    model.mergeNode(key, {
      ...(known ? {} : { x: from.x + far * Math.cos(angle), y: from.y + far * Math.sin(angle) }),
      size: Math.min(18, 4 + Math.sqrt(node.degree) * 1.6),
      label: shortened(node.title),
      color: colourOf(near && known ? model.getNodeAttribute(key, "community") : node.community, dark),
      id: node.id,
      kind: node.kind,
      scope: node.scope,
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

export function recolour(model: Model, dark: boolean): void {
  model.updateEachNodeAttributes((_, node) => ({ ...node, color: colourOf(node.community, dark) }), { attributes: ["color"] });
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
