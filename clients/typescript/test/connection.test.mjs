// What happens when something goes wrong between client and server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  CallTimeoutError,
  ForbiddenError,
  MCPMemoryClient,
  RateLimitedError,
  UnauthorizedError,
} from "@polymnia/client";
import { Server, answering, between, hasty, imitation, ran } from "./server.mjs";

const WRITES = 1000;

for (const way of ["ws", "http"]) {
  test(`the server is killed and started again under ${WRITES} writes over ${way}: none lost, none doubled`, async (t) => {
    const server = await Server.start(t);
    const client = new MCPMemoryClient({ endpoint: server[way], timeout: 180_000 });
    t.after(() => client.close());
    const answered = [];
    let next = 0;
    let restarts = 0;
    const restart = async () => {
      await server.kill();
      await server.start();
      restarts++;
    };
    let restarting = Promise.resolve();
    const write = async () => {
      while (next < WRITES) {
        const number = next++;
        const { content_id } = await client.storeContent({ project_id: "killed", content: `write ${number}` });
        answered.push([number, content_id]);
        if (answered.length % 300 === 0) restarting = restarting.then(restart);
      }
    };
    await Promise.all(Array.from({ length: 16 }, write));
    await restarting;
    assert.equal(restarts, 3);
    assert.equal(new Set(answered.map(([, id]) => id)).size, WRITES);
    const stored = [];
    for (let offset = 0; ; offset += 100) {
      const options = { limit: 100, offset };
      const { results } = await client.searchContent({
        project_id: "killed",
        query: "write",
        query_type: "keyword",
        options,
      });
      stored.push(...results.map((one) => [one.content.content, one.content.content_id]));
      if (results.length < 100) break;
    }
    assert.deepEqual(stored.sort(), answered.map(([number, id]) => [`write ${number}`, id]).sort());
  });
}

test("a server that is not there yet is waited for", async (t) => {
  const server = await Server.start(t);
  await server.kill();
  for (const way of ["ws", "http"]) {
    const client = new MCPMemoryClient(server[way]);
    t.after(() => client.close());
    const call = client.readGraph({ limit: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server.start();
    assert.ok((await call).entities);
    await server.kill();
  }
});

for (const death of ['process.kill(process.pid, "SIGKILL")', "process.exit(1)"])
  test(`a server that was started and dies by ${death} is started again`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "polymnia-client-"));
    t.after(() => rmSync(folder, { recursive: true }));
    // Dies at its first call, and answers the next time it is started.
    const script = `const fs = require("fs");
      require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (id === undefined) return;
        if (method === "tools/call" && !fs.existsSync("died")) {
          fs.writeFileSync("died", "");
          ${death};
        }
        const result = method === "initialize" ? {} : { content: [], structuredContent: { method } };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });`;
    const client = new MCPMemoryClient({ endpoint: [process.execPath, "-e", script], cwd: folder });
    assert.deepEqual(await client.readGraph(), { method: "tools/call" });
    await client.close();
  });

test("what may have been done is sent again only if that does no harm", async (t) => {
  let calls = 0;
  const server = await imitation(t, (_, socket) => {
    if (++calls > 1) return { result: { content: [], structuredContent: { calls } } };
    socket.terminate();
  });
  const client = new MCPMemoryClient(server.ws);
  t.after(() => client.close());
  await assert.rejects(client.call("a_tool_nobody_knows"), {
    name: "ConnectionFailedError",
    message: /unknown whether a_tool/,
  });
  calls = 0;
  assert.deepEqual(await client.createEntities({ entities: [] }), { calls: 2 });
  const ids = server.heard
    .filter((one) => one.params?.name === "create_entities")
    .map((one) => one.params._meta["polymnia/requestId"]);
  assert.equal(ids.length, 2);
  assert.ok(ids[0] && ids[0] === ids[1]);
});

test("a refused call is sent again when the server says so", async (t) => {
  let refused = 0;
  const answer = () =>
    refused++ < 2
      ? { error: { code: 503, message: "slow down", data: { retry_after: 0.1 } } }
      : { result: { content: [], structuredContent: { refused } } };
  const server = await imitation(t, answer);
  const client = new MCPMemoryClient(server.ws);
  t.after(() => client.close());
  const begun = performance.now();
  assert.deepEqual(await client.readGraph(), { refused: 3 });
  assert.ok(performance.now() - begun >= 190);
  const script = `import { MCPMemoryClient } from "@polymnia/client";
    const client = new MCPMemoryClient("${server.ws}");
    await client.readGraph();`;
  for (const [NODE_DEBUG, shown] of [
    ["polymnia", /^POLYMNIA \d+: read_graph waits 0\.1 s, as the server says: slow down\n/],
    ["", /^$/],
  ]) {
    refused = 0;
    const { status, stderr } = await ran(script, { env: { NODE_DEBUG } });
    assert.equal(status, 0, stderr);
    assert.match(stderr, shown);
  }
});

test("150 calls in a plain loop are done by a server that takes 100 a window, however short the timeout", async (t) => {
  const window = 5;
  if (!hasty(window)) return t.skip("the command of the server is not ours");
  const server = await Server.start(t, ["--rate-limit-session", "100"], window);
  const loop = async (way) => {
    const client = new MCPMemoryClient({ endpoint: server[way], timeout: 3000 });
    t.after(() => client.close());
    await client.ping();
    const begun = performance.now();
    for (let n = 0; n < 150; n++) await client.readGraph({ limit: 1 });
    return performance.now() - begun;
  };
  for (const took of await Promise.all([loop("ws"), loop("http")])) assert.ok(took > window * 900, `only ${took} ms`);
});

test("a server that wants no connection yet is waited for as long as it says", async (t) => {
  let asked = 0;
  const port = await answering(t, async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { id, method } = JSON.parse(body || "{}");
    if (id === undefined) return response.writeHead(202).end();
    const error = { code: 429, message: "slow down", data: {} };
    const isRefused = method === "initialize" && ++asked === 1;
    const said = isRefused ? { error } : { result: { content: [], structuredContent: { asked } } };
    const headers = { "content-type": "application/json", ...(isRefused ? { "retry-after": "2" } : {}) };
    response.writeHead(isRefused ? 429 : 200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  });
  const client = new MCPMemoryClient({ endpoint: `http://127.0.0.1:${port}/mcp`, timeout: 1500 });
  t.after(() => client.close());
  const strict = assert.rejects(client.readGraph({}, { timeout: 1500 }), RateLimitedError);
  assert.deepEqual(await client.readGraph(), { asked: 2 });
  await strict;
});

test("a limit that outlasts the timeout given with a call is told at once", async (t) => {
  const server = await Server.start(t, ["--rate-limit-session", "3"]);
  for (const way of ["ws", "http"]) {
    const client = new MCPMemoryClient(server[way]);
    t.after(() => client.close());
    for (let n = 0; n < 3; n++) await client.readGraph();
    const begun = performance.now();
    await assert.rejects(client.readGraph({}, { timeout: 30_000 }), (error) => {
      assert.ok(error instanceof RateLimitedError);
      assert.ok(error.retryAfter > 30 && error.retryAfter <= 60);
      return true;
    });
    assert.ok(performance.now() - begun < 10_000);
  }
});

test("keys: none, a wrong one, one for reading, one that is revoked", async (t) => {
  const server = await Server.start(t);
  const key = server.key("add", "all").trim();
  const reading = server.key("add", "reader", "--access", "read").trim();
  for (const way of ["ws", "http"]) {
    const endpoint = server[way];
    const client = (apiKey) => {
      const made = new MCPMemoryClient({ endpoint, apiKey });
      t.after(() => made.close());
      return made;
    };
    await assert.rejects(client().readGraph(), UnauthorizedError);
    await assert.rejects(client("pk_wrong").readGraph(), (error) => {
      assert.ok(error instanceof UnauthorizedError);
      assert.equal(error.code, 401);
      assert.ok(error.data.suggestions.length);
      return true;
    });
    assert.ok((await client(key).readGraph()).entities);
    const reader = client(reading);
    assert.ok((await reader.readGraph()).entities);
    await assert.rejects(reader.storeContent({ project_id: "p", content: "c" }), ForbiddenError);
  }
  const clients = ["ws", "http"].map((way) => new MCPMemoryClient({ endpoint: server[way], apiKey: reading }));
  for (const client of clients) {
    t.after(() => client.close());
    await client.readGraph();
  }
  const id = /^\s*(\S+).*reader/m.exec(server.key("list"))[1];
  server.key("revoke", id);
  for (const client of clients) await assert.rejects(client.readGraph(), UnauthorizedError);
});

const many = Array.from({ length: 10_000 }, (_, n) => ({
  name: `entity ${n}`,
  entityType: "number",
  observations: [`It is ${n}`],
}));

for (const way of ["ws", "http"]) {
  test(`a call that is withdrawn over ${way} changes nothing, and progress is told`, async (t) => {
    const server = await Server.start(t);
    const client = new MCPMemoryClient(server[way]);
    t.after(() => client.close());
    const aborter = new AbortController();
    const seen = [];
    const call = client.createEntities(
      { entities: many },
      {
        signal: aborter.signal,
        onProgress: (progress) => {
          seen.push(progress);
          aborter.abort(new Error("enough"));
        },
      },
    );
    await assert.rejects(call, { message: "enough" });
    assert.ok(seen[0].total >= 10_000 && seen[0].progress <= seen[0].total);
    // Calls of one client take effect in order: this one comes after what was withdrawn.
    assert.deepEqual((await client.readGraph({ limit: 1 })).entities, []);
    await assert.rejects(client.readGraph({}, { signal: AbortSignal.abort(new Error("before")) }), {
      message: "before",
    });
  });
}

test("a timeout withdraws the call", async (t) => {
  const server = await imitation(t, () => undefined);
  const client = new MCPMemoryClient(server.ws);
  t.after(() => client.close());
  await assert.rejects(client.readGraph({}, { timeout: 100 }), (error) => {
    assert.ok(error instanceof CallTimeoutError);
    assert.equal(error.code, 504);
    assert.match(error.message, /read_graph within 0\.1 s/);
    return true;
  });
  while (server.heard.at(-1).method === "tools/call") await new Promise((resolve) => setTimeout(resolve, 10));
  const call = server.heard.find((one) => one.method === "tools/call");
  assert.equal(server.heard.find((one) => one.method === "notifications/cancelled").params.requestId, call.id);
});

for (const way of ["ws", "http"]) {
  test(`a subscription over ${way} tells of changes, after a restart too`, async (t) => {
    const server = await Server.start(t);
    const [client, other] = [1, 2].map(() => new MCPMemoryClient(server[way]));
    t.after(() => Promise.all([client.close(), other.close()]));
    await other.createEntities({
      entities: [{ name: "Ann / Ülm", entityType: "person", observations: ["Is a person"] }],
    });
    const heard = [];
    let wake = () => {};
    const next = async (count) => {
      while (heard.length < count) await new Promise((resolve) => (wake = resolve));
      return heard.length;
    };
    const subscription = await client.subscribe("Ann / Ülm", (update) => {
      heard.push(update);
      wake();
    });
    const add = (text) => other.addObservations({ observations: [{ entityName: "Ann / Ülm", contents: [text] }] });
    await add("Likes tea");
    await next(1);
    assert.equal(heard[0].uri, subscription.uri);
    await server.kill();
    await server.start();
    let count = await next(2);
    // Over HTTP the session itself goes on where the store is a database.
    const sameSession = way === "http" && process.env.POLYMNIA_TEST_STORE === "postgres";
    assert.ok(sameSession || heard.some((one) => one.reconnected));
    await add("Lives in Ulm");
    count = await next(count + 1);
    await subscription.unsubscribe();
    await add("Plays chess");
    await client.readGraph();
    assert.equal(heard.length, count);
  });
}

test("the rest of a stream is asked for when the connection breaks", async (t) => {
  const server = await Server.start(t);
  let told = 0;
  const proxy = await between(t, server.port, (data) => !data.includes("notifications/progress") || ++told !== 2);
  const client = new MCPMemoryClient(`http://127.0.0.1:${proxy.port}/mcp`);
  t.after(() => client.close());
  const made = await client.createEntities({ entities: many }, { onProgress: () => {} });
  assert.equal(made.ids.length, many.length);
  assert.ok(told >= 2);
  const asked = proxy.asked.join("");
  assert.equal(asked.match(/^last-event-id: /gim).length, 1);
  assert.equal(asked.match(/"create_entities"/g).length, 1);
});

for (const way of ["ws", "http"]) {
  test(`a write over ${way} whose answer is lost is done once`, async (t) => {
    const server = await Server.start(t);
    let lost = 0;
    let losing = "";
    const proxy = await between(t, server.port, (data) => {
      if (!losing || !data.includes(losing)) return true;
      losing = "";
      lost++;
    });
    const client = new MCPMemoryClient(server[way].replace(server.port, proxy.port));
    t.after(() => client.close());
    await client.ping();
    losing = "Content stored";
    const stored = await client.storeContent({ project_id: "once", content: "said once" });
    assert.equal(stored.repeated, true);
    const { results } = await client.searchContent({ project_id: "once", query: "said" });
    assert.deepEqual(
      results.map((one) => one.content.content_id),
      [stored.content_id],
    );
    losing = 'ids\\"';
    const made = await client.createEntities({
      entities: [{ name: "Ann", entityType: "person", observations: ["once"] }],
    });
    assert.equal(made.success, true);
    assert.equal(lost, 2);
  });
}

test("a connection that falls silent is given up", async (t) => {
  // Nothing is answered on the first connection but the handshake.
  let first;
  const server = await imitation(t, (_, socket) => {
    first ??= socket;
    return socket === first ? undefined : { result: { content: [], structuredContent: {} } };
  });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new MCPMemoryClient({ endpoint: server.ws, timeout: 1000 });
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  const until = async (condition) => {
    while (!condition()) await soon();
  };
  const call = client.readGraph();
  await until(() => server.heard.some((one) => one.method === "tools/call"));
  t.mock.timers.tick(1000);
  await assert.rejects(call, CallTimeoutError);
  await until(() => server.heard.some((one) => one.method === "ping"));
  t.mock.timers.tick(30_000);
  assert.deepEqual(await client.readGraph(), {});
  await client.close();
});

test("a message too large for the server is refused, and the calls beside it are answered", async (t) => {
  const server = await Server.start(t, ["--max-message-bytes", "2000000"]);
  for (const way of ["ws", "http"]) {
    const client = new MCPMemoryClient({ endpoint: server[way], timeout: 20_000 });
    t.after(() => client.close());
    const large = client.storeMemory({ content: "x".repeat(3_000_000) });
    const small = client.readGraph();
    await assert.rejects(large, { name: "MCPMemoryError", code: -32600 });
    assert.ok((await small).entities);
  }
});

test("the timeout is 30 s by default; 0 is at once, Infinity is never, and anything else is refused", async (t) => {
  const server = await imitation(t, () => undefined);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new MCPMemoryClient(server.ws);
  t.after(() => client.close());
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  const calls = () => server.heard.filter((one) => one.method === "tools/call").length;
  await assert.rejects(client.readGraph({}, { timeout: 0 }), { name: "CallTimeoutError", message: /timeout .* is 0/ });
  assert.equal(server.heard.length, 0);
  let ended = 0;
  const waiting = [client.readGraph(), client.readGraph({}, { timeout: Infinity })].map((call) =>
    call.catch((error) => {
      ended++;
      return error;
    }),
  );
  while (calls() < 2) await soon();
  t.mock.timers.tick(29_999);
  await soon();
  assert.equal(ended, 0);
  t.mock.timers.tick(1);
  const error = await waiting[0];
  assert.ok(error instanceof CallTimeoutError);
  assert.match(error.message, /within 30 s/);
  assert.ok(Array.isArray(error.data.suggestions));
  assert.equal(ended, 1);
  for (const timeout of [-1, NaN, "5"]) {
    await assert.rejects(client.readGraph({}, { timeout }), RangeError);
    assert.throws(() => new MCPMemoryClient({ timeout }), RangeError);
  }
});

test("a closed client says so", async (t) => {
  const server = await imitation(t, () => undefined);
  const client = new MCPMemoryClient(server.ws);
  const call = client.readGraph();
  const closed = { name: "ConnectionFailedError", message: "The client was closed" };
  const waiting = assert.rejects(call, closed);
  await client.close();
  await waiting;
  await assert.rejects(client.readGraph(), closed);
});
