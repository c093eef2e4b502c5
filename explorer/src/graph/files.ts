import { colourOf, type Model } from "./model";

/** The graph as files other programs read. Everything from the store is escaped. */

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  // What XML cannot hold at all is left out.
  return text.replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "").replace(/[&<>"']/g, (one) => ESCAPES[one]!);
}

export function graphml(model: Model): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ...(["label", "kind", "scope", "id"] as const).map((name) => `<key id="${name}" for="node" attr.name="${name}" attr.type="string"/>`),
    '<key id="community" for="node" attr.name="community" attr.type="int"/>',
    '<key id="type" for="edge" attr.name="type" attr.type="string"/>',
    '<key id="automatic" for="edge" attr.name="automatic" attr.type="boolean"/>',
    '<graph edgedefault="directed">',
  ];
  const names = new Map<string, string>();
  model.forEachNode((key, node) => {
    const name = `n${names.size}`;
    names.set(key, name);
    const data = ([["label", node.title], ["kind", node.kind], ["scope", node.scope], ["id", node.id ?? ""]] as const).map(([field, value]) => `<data key="${field}">${escaped(value)}</data>`);
    if (node.community !== null) data.push(`<data key="community">${node.community}</data>`);
    lines.push(`<node id="${name}">${data.join("")}</node>`);
  });
  model.forEachEdge((_, link, source, target) => {
    lines.push(`<edge source="${names.get(source)}" target="${names.get(target)}"><data key="type">${escaped(link.kind)}</data><data key="automatic">${link.automatic}</data></edge>`);
  });
  return [...lines, "</graph>", "</graphml>", ""].join("\n");
}

export function svg(model: Model, shown: (kind: string, automatic: boolean) => boolean): string {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  model.forEachNode((_, { x, y }) => {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, -y);
    box.bottom = Math.max(box.bottom, -y);
  });
  if (!model.order) Object.assign(box, { left: 0, top: 0, right: 1, bottom: 1 });
  const scale = 1100 / Math.max(1, box.right - box.left, box.bottom - box.top);
  const X = (x: number) => ((x - box.left) * scale + 60).toFixed(1);
  const Y = (y: number) => ((-y - box.top) * scale + 60).toFixed(1);
  const width = Math.ceil((box.right - box.left) * scale + 240);
  const height = Math.ceil((box.bottom - box.top) * scale + 120);
  const lines = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif">`];
  lines.push('<rect width="100%" height="100%" fill="#ffffff"/>', '<g stroke="#b9b6c2" stroke-width="1">');
  model.forEachEdge((_, link, __, ___, source, target) => {
    if (shown(link.kind, link.automatic)) lines.push(`<line x1="${X(source.x)}" y1="${Y(source.y)}" x2="${X(target.x)}" y2="${Y(target.y)}"><title>${escaped(link.kind)}</title></line>`);
  });
  lines.push("</g>");
  const names = model.order <= 400;
  model.forEachNode((_, node) => {
    lines.push(`<circle cx="${X(node.x)}" cy="${Y(node.y)}" r="${node.size.toFixed(1)}" fill="${colourOf(node.community, false)}"><title>${escaped(node.title)}</title></circle>`);
    if (names) lines.push(`<text x="${(Number(X(node.x)) + node.size + 4).toFixed(1)}" y="${(Number(Y(node.y)) + 4).toFixed(1)}" font-size="12" fill="#1d1b22">${escaped(node.label)}</text>`);
  });
  return [...lines, "</svg>", ""].join("\n");
}

export function download(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
