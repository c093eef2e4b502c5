// What cannot succeed fails at once and says why; what may still succeed says at the end why it did not.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { ConnectionFailedError, MCPMemoryClient } from "@polymnia/client";
import { Server, answering, freePort, imitation, ran } from "./server.mjs";

/** The error of a call; with no timeout, so that only a failure that is told at once ends the test. */
async function failure(t, options) {
  const client = new MCPMemoryClient({ timeout: Infinity, ...options });
  t.after(() => client.close());
  const error = await client.readGraph().then(
    () => assert.fail("it was answered"),
    (error) => error,
  );
  assert.ok(error instanceof ConnectionFailedError, error);
  assert.equal(error.kind, "connection_error");
  assert.ok(Array.isArray(error.data.suggestions));
  return error;
}

test("an address that is no MCP endpoint says so at once, and where the endpoints are", async (t) => {
  const server = await Server.start(t);
  const page = await answering(t, (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"));
  const moved = await answering(t, (_, response) => response.writeHead(301, { location: "/elsewhere" }).end());
  const wrong = {
    [`${server.ws}/nothing`]: "404",
    [`${server.http}/nothing`]: "404",
    [server.http.replace("/mcp", "/sse")]: "405",
    [server.ws.replace("/ws", "/sse")]: "200",
    [server.ws.replace("/ws", "/mcp")]: "406",
    [server.http.replace("/mcp", "/ws")]: "426",
    [`http://127.0.0.1:${page}/`]: "200",
    [`ws://127.0.0.1:${page}/`]: "200",
    [`ws://127.0.0.1:${moved}/`]: "301",
  };
  for (const [endpoint, status] of Object.entries(wrong)) {
    const { message, data } = await failure(t, { endpoint });
    assert.ok(message.startsWith(`${endpoint} answered ${status}`), message);
    assert.match(message, /\/ws for WebSocket and \/mcp for HTTP/);
    assert.match(data.suggestions[0], /ws:\/\/127\.0\.0\.1:\d+\/ws or http:\/\/127\.0\.0\.1:\d+\/mcp/);
  }
});

test("a malformed endpoint is refused when the client is made", () => {
  const malformed = {
    garbage: /none of ws:\/\/, wss:\/\/, http:\/\/, https:\/\/ or stdio:/,
    "localhost:9080": /none of/,
    "ftp://localhost/": /none of/,
    "": /none of/,
    "ws://": /no host/,
    "ws://:9080/ws": /no host/,
    "http:///mcp": /no host/,
    "ws://localhost:99999/ws": /port/,
    "http://localhost:x/mcp": /port/,
    "http://a b/mcp": /host/,
    "http://ann:secret@localhost/mcp": /password/,
    "ws://ann:secret@localhost:99999/ws": /port/,
  };
  for (const [endpoint, why] of Object.entries(malformed)) {
    assert.throws(
      () => new MCPMemoryClient({ endpoint }),
      (error) => {
        assert.ok(error instanceof ConnectionFailedError);
        assert.match(error.message, /^The endpoint ".*" is malformed/);
        assert.match(error.message, why);
        assert.doesNotMatch(error.message, /secret/);
        return error.data.suggestions.length > 0;
      },
    );
  }
  for (const endpoint of [null, 9080, {}]) {
    assert.throws(() => new MCPMemoryClient({ endpoint }), { name: "TypeError", message: /^endpoint must be/ });
  }
  new MCPMemoryClient("WS://LOCALHOST:9080/ws");
});

test("a command that cannot be run, or ends before it answers, fails at once with what it said", async (t) => {
  const missing = await failure(t, { endpoint: "stdio:no-such-program-anywhere" });
  assert.match(missing.message, /no-such-program-anywhere/);
  for (const code of [2, 0]) {
    const script = `console.error("I refuse"); process.exit(${code})`;
    const { message } = await failure(t, { endpoint: [process.execPath, "-e", script] });
    assert.match(message, new RegExp(`ended with code ${code} before it answered: I refuse`));
  }
  const greets = "console.log('Hello'); setInterval(Date)";
  const { message } = await failure(t, { endpoint: [process.execPath, "-e", greets] });
  assert.match(message, /not JSON: Hello/);
});

test("what may heal is tried until the timeout, and the error names the last reason", async (t) => {
  const closed = await freePort();
  const broken = await answering(t, (_, response) => response.writeHead(503).end());
  const cases = [
    [closed, /within 2 s: .*ECONNREFUSED/],
    [broken, /within 2 s: .* answered 503 Service Unavailable/],
  ];
  const tried = cases.flatMap(([port, why]) =>
    [`ws://127.0.0.1:${port}/ws`, `http://127.0.0.1:${port}/mcp`].map(async (endpoint) => {
      const error = await failure(t, { endpoint, timeout: 2000 });
      assert.ok(error.message.includes(endpoint));
      assert.match(error.message, why);
      assert.equal(error.final, false);
    }),
  );
  await Promise.all(tried);
});

test("arguments that are not JSON fail at once, and nothing is sent", async (t) => {
  const server = await imitation(t, () => ({ result: { content: [], structuredContent: { fine: true } } }));
  const client = new MCPMemoryClient({ endpoint: server.ws, timeout: Infinity });
  t.after(() => client.close());
  const cycle = {};
  cycle.itself = cycle;
  for (const value of [10n, cycle]) {
    await assert.rejects(client.storeContent({ project_id: "p", content: "c", metadata: { value } }), TypeError);
    await assert.rejects(client.call("any", { value }, { onProgress: () => {} }), TypeError);
  }
  assert.deepEqual(await client.readGraph(), { fine: true });
  assert.equal(server.heard.filter((one) => one.method === "tools/call").length, 1);
});

test("a key may have whitespace around it; one that no header can carry is refused without being shown", async (t) => {
  const server = await Server.start(t);
  const key = server.key("add", "all").trim();
  for (const endpoint of [server.ws, server.http]) {
    const client = new MCPMemoryClient({ endpoint, apiKey: ` ${key}\r\n` });
    t.after(() => client.close());
    assert.ok((await client.readGraph()).entities);
    for (const apiKey of ["열쇠", "pk_secret\nmore", "pk_secret\0"]) {
      assert.throws(
        () => new MCPMemoryClient({ endpoint, apiKey }),
        (error) => error instanceof TypeError && /^apiKey /.test(error.message) && !/secret|열쇠/.test(error.message),
      );
    }
    for (const headers of [{ "x-note": "secret\n" }, { "x note": "secret" }]) {
      assert.throws(
        () => new MCPMemoryClient({ endpoint, headers }),
        (error) => error instanceof TypeError && /x.note/.test(error.message) && !/secret/.test(error.message),
      );
    }
  }
});

test("a callback that fails is reported and breaks nothing", async (t) => {
  const server = await Server.start(t);
  const reported = t.mock.method(console, "error", () => {});
  const causes = () => reported.mock.calls.map((one) => one.arguments[1].message);
  for (const endpoint of [server.ws, server.http]) {
    reported.mock.resetCalls();
    const client = new MCPMemoryClient(endpoint);
    t.after(() => client.close());
    const name = `Ann of ${endpoint}`;
    const first = Array.from({ length: 2000 }, (_, n) => ({
      name: n ? `${name} ${n}` : name,
      entityType: "person",
      observations: ["x"],
    }));
    const options = {
      onProgress: () => {
        throw new Error("progress");
      },
    };
    assert.equal((await client.createEntities({ entities: first }, options)).ids.length, first.length);
    assert.ok(causes().length > 0 && causes().every((one) => one === "progress"));
    reported.mock.resetCalls();
    let heard;
    const told = new Promise((resolve) => (heard = resolve));
    await client.subscribe(name, async () => {
      throw new Error("rejected");
    });
    await client.subscribe(name, () => {
      throw new Error("thrown");
    });
    await client.subscribe(name, heard);
    await client.addObservations({ observations: [{ entityName: name, contents: ["Likes tea"] }] });
    await told;
    await client.ping();
    assert.deepEqual(causes().sort(), ["rejected", "thrown"]);
  }
});

test("all progress is told before the call is answered", async (t) => {
  const server = await Server.start(t);
  for (const endpoint of [server.ws, server.http]) {
    const client = new MCPMemoryClient(endpoint);
    t.after(() => client.close());
    const entities = Array.from({ length: 3000 }, (_, n) => ({
      name: `${endpoint} ${n}`,
      entityType: "number",
      observations: [`It is ${n}`],
    }));
    let told = 0;
    await client.createEntities({ entities }, { onProgress: () => told++ });
    const before = told;
    assert.ok(before > 0);
    await client.ping();
    assert.equal(told, before);
  }
});

test("a process ends soon after its calls have failed", async (t) => {
  const sockets = new Set();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => {})));
  await new Promise((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const address = `127.0.0.1:${silent.address().port}`;
  const never = [process.execPath, "-e", "setInterval(() => {}, 1000)"];
  const endpoints = [never, `ws://${address}/ws`, `http://${address}/mcp`];
  const ends = endpoints.map((endpoint) =>
    ran(`import { MCPMemoryClient } from "@polymnia/client";
      const client = new MCPMemoryClient({ endpoint: ${JSON.stringify(endpoint)}, timeout: 500 });
      await client.readGraph().catch((error) => console.log(error.message));`),
  );
  for (const { status, stdout, stderr } of await Promise.all(ends)) {
    assert.match(stdout, /^No connection to .* within 0\.5 s: it has not answered\n$/, stderr);
    assert.equal(status, 0);
  }
});
