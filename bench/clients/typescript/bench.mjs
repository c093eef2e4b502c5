// A trivial call (open_nodes of one memory) by this client and by the official TypeScript SDK against the same server:
// how long it takes, and the CPU time of the client's process.
//
//   npm ci && npm ci --prefix ../../../clients/typescript && npm run build --prefix ../../../clients/typescript
//   node bench.mjs [--calls 300] [--rounds 10]
//
// `python -m bench.clients.typescript` does all of that and keeps what was measured.
//
// It starts a server of its own with the command in POLYMNIA, or uses the one at POLYMNIA_URL. Every side is a process
// of its own; they make blocks of calls in turn. The SDK's WebSocket transport wants a global WebSocket, which Node has
// from version 22 on: before, it is given the one of `ws`, which is also the one this client uses.
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const SIDES = { "polymnia ws": "ws", "sdk ws": "ws", "polymnia http": "http", "sdk http": "http" };
const NAME = "Ann";
const ours = new URL("../../../clients/typescript/", import.meta.url);

if (process.send) await side(process.argv[2], process.argv[3]);
else await measure();

async function measure() {
  const { values } = parseArgs({
    options: { calls: { type: "string", default: "300" }, rounds: { type: "string", default: "10" } },
  });
  const calls = Number(values.calls);
  const rounds = Number(values.rounds);
  const { shared } = await import(new URL("test/server.mjs", ours));
  const { MCPMemoryClient } = await import(new URL("dist/esm/node.js", ours));
  const server = await shared();
  const first = new MCPMemoryClient(server.ws);
  await first.createEntities({ entities: [{ name: NAME, entityType: "person", observations: ["Likes tea"] }] });
  await first.close();

  const sides = Object.entries(SIDES).map(([name, way]) => ({
    name,
    way,
    process: fork(fileURLToPath(import.meta.url), [name, server[way]], { execArgv: ["--no-warnings"] }), // of the SDK's listeners
    took: [],
    rounds: [], // CPU and p50 of each
  }));
  const block = (one) =>
    new Promise((resolve, reject) => {
      one.process.once("exit", (code) => reject(new Error(`${one.name} ended with ${code}`)));
      one.process.once("message", (found) => {
        one.process.removeAllListeners("exit");
        resolve(found);
      });
      one.process.send(calls);
    });
  for (let warm = 0; warm < 3; warm++) for (const one of sides) await block(one);
  for (let round = 0; round < rounds; round++) {
    for (const one of round % 2 ? [...sides].reverse() : sides) {
      const { took, cpu } = await block(one);
      one.took.push(...took);
      one.rounds.push([cpu / calls, median(took)]);
    }
  }
  for (const one of sides) one.process.disconnect();
  await server.end?.();
  const found = sides.map(({ name, way, took, rounds }) => {
    const sorted = took.sort((a, b) => a - b);
    const at = (share) => Math.round(sorted[Math.floor(sorted.length * share)]);
    const cpu_us = Math.round(median(rounds.map(([cpu]) => cpu)));
    return { client: name.split(" ")[0], transport: way, p50_us: at(0.5), p95_us: at(0.95), cpu_us, rounds };
  });
  const sdk = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).dependencies[
    "@modelcontextprotocol/sdk"
  ];
  const facts = {
    language: "typescript",
    runtime: `node ${process.version}`,
    sdk,
    call: "open_nodes",
    calls: calls * rounds,
  };
  console.log(JSON.stringify({ ...facts, sides: found }, undefined, 2));
}

function median(some) {
  return [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)];
}

/** One side: makes as many calls as it is told, and tells how long they took in microseconds. */
async function side(name, url) {
  const call = name.startsWith("polymnia") ? await polymnia(url) : await official(url, SIDES[name]);
  process.on("disconnect", () => process.exit());
  process.on("message", async (calls) => {
    const took = [];
    const before = process.cpuUsage();
    for (let n = 0; n < calls; n++) {
      const begun = performance.now();
      const found = await call();
      took.push((performance.now() - begun) * 1000);
      if (found.nodes[0].name !== NAME) throw new Error(JSON.stringify(found));
    }
    const { user, system } = process.cpuUsage(before);
    process.send({ took, cpu: user + system });
  });
}

async function polymnia(endpoint) {
  const { MCPMemoryClient } = await import(new URL("dist/esm/node.js", ours));
  const client = new MCPMemoryClient({ endpoint });
  return () => client.openNodes({ names: [NAME] });
}

async function official(url, way) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client({ name: "bench", version: "1" });
  if (way === "ws") {
    const { WebSocketClientTransport } = await import("@modelcontextprotocol/sdk/client/websocket.js");
    globalThis.WebSocket ??= (await import("ws")).WebSocket;
    await client.connect(new WebSocketClientTransport(new URL(url)));
  } else {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  }
  return async () => (await client.callTool({ name: "open_nodes", arguments: { names: [NAME] } })).structuredContent;
}
