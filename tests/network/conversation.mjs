// The official clients for Node talk to a server, and tell as lines of JSON what they heard.
// node --input-type=module - KIND URL TALK NAME [ARGUMENTS] < conversation.mjs, in the folder the clients are installed in.
// KIND is http, sse or ws (the first generation of the client), http2, sse2 or modern (the second).
import { once } from "node:events";

const [kind, address, talk, name, given] = process.argv.slice(2);
const second = ["http2", "sse2", "modern"].includes(kind);
const GRAPH = "memory://knowledge-graph";
const tell = (value) => console.log(JSON.stringify(value));

const load = async () => {
  if (second) return import("@modelcontextprotocol/client");
  const folder = "@modelcontextprotocol/sdk";
  return {
    ...(await import(`${folder}/client/index.js`)),
    ...(await import(`${folder}/client/streamableHttp.js`)),
    ...(await import(`${folder}/client/sse.js`)),
    ...(await import(`${folder}/client/websocket.js`)),
    ...(await import(`${folder}/types.js`)),
  };
};
const library = await load();

function transport(options) {
  const url = new URL(address);
  if (kind === "ws") return new library.WebSocketClientTransport(url);
  if (kind.startsWith("sse")) return new library.SSEClientTransport(url, options);
  return new library.StreamableHTTPClientTransport(url, options);
}

async function connected(options) {
  const mode = kind === "modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new library.Client({ name: "node", version: "1" }, second ? { versionNegotiation: { mode } } : {});
  const way = transport(options);
  await client.connect(way);
  return [client, way];
}

const call = (client, tool, args, options = {}) =>
  second
    ? client.callTool({ name: tool, arguments: args }, options)
    : client.callTool({ name: tool, arguments: args }, undefined, options);

function updated(client) {
  return new Promise((resolve) => {
    const heard = (notification) => resolve(notification.params.uri);
    if (second) client.setNotificationHandler("notifications/resources/updated", heard);
    else client.setNotificationHandler(library.ResourceUpdatedNotificationSchema, heard);
  });
}

const entities = (names) => ({ entities: names.map((one) => ({ name: one, entityType: "thing", observations: ["x"] })) });

const TALKS = {
  async tool() {
    const [client] = await connected();
    const tools = (await client.listTools()).tools.map((one) => one.name);
    const result = await call(client, name, JSON.parse(given));
    tell({ tools, server: client.getServerVersion()?.name, isError: result.isError ?? false, content: result.content });
    await client.close();
  },
  async everything() {
    const [client, way] = await connected();
    const tools = (await client.listTools()).tools.map((one) => one.name);
    const news = updated(client);
    const listening = kind === "modern" ? await client.listen({ resourceSubscriptions: [GRAPH] }) : undefined;
    if (!listening) await client.subscribeResource({ uri: GRAPH });
    await call(client, "create_entities", entities([name]));
    const told = await news;
    await listening?.close();
    const read = JSON.parse((await client.readResource({ uri: GRAPH })).contents[0].text);
    const prompts = (await client.listPrompts()).prompts.length;
    const ref = { type: "ref/resource", uri: "memory://memory/{name}" };
    const completed = await client.complete({ ref, argument: { name: "name", value: name } });
    const progress = [];
    const many = entities(Array.from({ length: 500 }, (_, i) => `${i} ${name}`));
    await call(client, "create_entities", many, { onprogress: (one) => progress.push(one.progress) });
    const missing = await client.readResource({ uri: "memory://memory/nobody" }).then(() => "", (error) => error.message);
    const session = way.sessionId;
    await way.terminateSession?.();
    await client.close();
    tell({
      tools, told, prompts, progress, missing, session,
      names: read.entities.map((one) => one.name), completed: completed.completion.values,
    });
  },
  async cancel() {
    const [client] = await connected();
    const withdrawn = new AbortController();
    const slow = call(client, "create_entities", entities([name]), { signal: withdrawn.signal });
    await call(client, "read_graph", {}, { timeout: 300 }).catch(() => undefined); // the first one is on its way
    withdrawn.abort("changed my mind");
    const outcome = await slow.then(() => "answered", () => "withdrawn");
    await client.listTools(); // the client is none the worse for it
    tell({ outcome });
    await client.close();
  },
  async resume() {
    const [client, way] = await connected();
    const session = way.sessionId;
    const seen = new Promise((resolve) => {
      call(client, "create_entities", entities([name]), { onresumptiontoken: resolve }).catch(() => undefined);
    });
    const resumptionToken = await seen;
    await client.close();
    const [again] = await connected({ sessionId: session });
    tell({ session, resumptionToken });
    const result = await call(again, "create_entities", entities([name]), { resumptionToken });
    tell({ isError: result.isError ?? false, content: result.content });
    await again.close();
  },
};

await TALKS[talk]();
if (process.stdout.writableLength) await once(process.stdout, "drain");
process.exit(0);
