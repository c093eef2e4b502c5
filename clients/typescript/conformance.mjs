// Replays clients/conformance/calls.json against the server at POLYMNIA_URL, and writes a line of canonical JSON each.
// Built first: npm run build.
import { readFileSync } from "node:fs";
import { MCPMemoryClient, VERSION } from "@polymnia/client";

const table = JSON.parse(readFileSync(new URL("../conformance/calls.json", import.meta.url), "utf8"));
const address = new URL(process.env.POLYMNIA_URL ?? "ws://127.0.0.1:9080/ws");
if (address.pathname === "/") address.pathname = address.protocol.startsWith("ws") ? "/ws" : "/mcp";
const client = new MCPMemoryClient({
  endpoint: address,
  timeout: 300_000,
  apiKey: process.env.POLYMNIA_KEY,
  clientInfo: { name: "conformance", version: VERSION }, // the history names it, and all clients are answered alike
});
const saved = {};

/** RFC 8785: keys in the order of their UTF-16 code units; everything else is as JSON.stringify writes it. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${fields.join(",")}}`;
}

/** The arguments with what earlier calls saved. */
function filled(value) {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value === "string") return /^\$\{(\w+)\}$/.test(value) ? (saved[value.slice(2, -1)] ?? value) : value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one)]));
}

const method = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

async function replay(id, call) {
  let line;
  try {
    const answer = await call();
    line = { answer, id };
  } catch (error) {
    if (error.kind === undefined) throw error;
    const { code, data = null, message, kind: type } = error;
    line = { error: { code, data, message, type }, id };
  }
  process.stdout.write(canonical(line) + "\n");
  return line.answer;
}

for (const { id, call, arguments: given, save = {} } of table.calls) {
  const answer = await replay(id, () => client[method(call)](filled(given)));
  for (const [name, field] of Object.entries(save)) saved[name] = answer?.[field];
}
for (const { id, call, arguments: given } of table.faults) {
  await replay(id, () => client.call(call, filled(given)));
}
await client.close();
