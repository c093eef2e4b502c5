// What a user calls, over every transport.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as package_ from "@polymnia/client";
import { MCPMemoryClient, NotFoundError, ToolError, ValidationError, resultOf } from "@polymnia/client";
import { command, imitation, shared } from "./server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

suite("calls", () => {
  let server;
  before(async () => (server = await shared()));
  after(() => server.end?.());

  const ways = {
    ws: () => server.ws,
    http: () => server.http,
    stdio: () => command("stdio", "--embedder", "none", "--store", `${server.folder ?? "."}/stdio.db`),
  };
  for (const [name, endpoint] of Object.entries(ways)) {
    test(`the example of the README works over ${name}`, async (t) => {
      if (name === "stdio" && !server.folder) return t.skip("the server is not ours");
      const client = new MCPMemoryClient({ endpoint: endpoint() });
      t.after(() => client.close());
      const project_id = `example-${name}-${Date.now()}`;
      const stored = await client.memoryStore({
        operation: "store_content",
        project_id,
        content: "Important information to remember",
        tags: ["important", "memory"],
      });
      assert.equal(stored.success, true);
      const found = await client.memoryRetrieve({
        operation: "search_content",
        project_id,
        query: "important information",
        options: { limit: 5 },
      });
      assert.deepEqual(
        found.results.map((one) => one.content.content_id),
        [stored.content_id],
      );
      const read = await client.getContent({ project_id, content_id: stored.content_id });
      assert.equal(read.content.content, "Important information to remember");
      assert.deepEqual(JSON.parse(resultOf(read).content[0].text), read);
      await assert.rejects(client.getContent({ project_id, content_id: "nothing" }), (error) => {
        assert.ok(error instanceof NotFoundError);
        assert.equal(error.code, 404);
        assert.equal(error.data.details.resource_id, "nothing");
        return true;
      });
    });
  }

  test("texts of every kind come back as they were", async (t) => {
    const client = new MCPMemoryClient(server.ws);
    t.after(() => client.close());
    const content = 'Zoë "quotes" \\ <b>&amp;</b> 제이드 🦉 \u2028 line\nbreak ' + "long ".repeat(100_000);
    const { memory_id } = await client.storeMemory({ content, scope: "texts", allow_duplicates: true });
    const read = await client.memoryGet({ memory_id });
    assert.equal(read.content, content);
  });

  test("a refusal of a tool without codes is a ToolError with its answer", async (t) => {
    const client = new MCPMemoryClient(server.ws);
    t.after(() => client.close());
    await assert.rejects(client.memoryGet({ memory_id: "nothing" }), (error) => {
      assert.ok(error instanceof ToolError);
      assert.equal(error.data.error, "MEMORY_NOT_FOUND");
      assert.equal(error.message, error.data.message);
      return true;
    });
    await assert.rejects(client.callTool("memory_get", { memory_id: "nothing" }), { kind: "tool_error" });
    const raw = await client.callTool("memory_get", { memory_id: "nothing" }, { raw: true });
    assert.equal(raw.isError, true);
    assert.equal((await client.callTool("read_graph", { limit: 1 })).content[0].type, "text");
  });

  test("parameters that do not fit say which", async (t) => {
    const client = new MCPMemoryClient(server.ws);
    t.after(() => client.close());
    await assert.rejects(client.memoryStore({ operation: "store_content", content: "no project" }), (error) => {
      assert.ok(error instanceof ValidationError);
      assert.equal(error.data.details.field, "project_id");
      return true;
    });
  });

  test("a write that is sent again by its request_id is done once", async (t) => {
    const client = new MCPMemoryClient(server.http);
    t.after(() => client.close());
    const given = { project_id: `once-${Date.now()}`, content: "once", request_id: `mine-${Date.now()}` };
    const first = await client.storeContent(given);
    const second = await client.storeContent(given);
    assert.equal(second.content_id, first.content_id);
  });

  test("resources, tools and pings", async (t) => {
    const client = new MCPMemoryClient(server.ws);
    t.after(() => client.close());
    await client.ping();
    assert.ok((await client.listTools()).some((tool) => tool.name === "memory_store"));
    assert.ok(Array.isArray(JSON.parse(await client.readResource("memory://knowledge-graph")).entities));
  });

  test("many calls at once are answered each with its own answer", async (t) => {
    for (const endpoint of [server.ws, server.http]) {
      const client = new MCPMemoryClient(endpoint);
      t.after(() => client.close());
      const names = Array.from({ length: 100 }, (_, n) => `nobody ${n}`);
      const found = await Promise.all(names.map((name) => client.openNodes({ names: [name] })));
      assert.deepEqual(
        found.map((one) => one.notFound[0]),
        names,
      );
    }
  });

  test("the entry for browsers works with what is global", () => {
    const script = `import { MCPMemoryClient } from "@polymnia/client";
      const endpoints = ${JSON.stringify([server.http])};
      if (globalThis.WebSocket) endpoints.push(${JSON.stringify(server.ws)});
      for (const endpoint of endpoints) {
        const client = new MCPMemoryClient({ endpoint });
        await client.readGraph({ limit: 1 });
        await client.close();
      }
      await new MCPMemoryClient("stdio:").readGraph().catch((error) => console.log(error.message));`;
    const given = ["--conditions=browser", "--input-type=module", "-e", script];
    const done = spawnSync(process.execPath, given, { cwd: here, encoding: "utf8", timeout: 60_000 });
    assert.equal(
      done.stdout,
      "A server can only be started from Node, Deno or Bun. Use a ws or http endpoint.\n",
      done.stderr,
    );
  });

  test("a process ends when its calls are answered, without a close", { skip: process.env.POLYMNIA_URL }, () => {
    for (const endpoint of [server.ws, server.http, ways.stdio()]) {
      const script = `import { MCPMemoryClient } from "@polymnia/client";
        const client = new MCPMemoryClient({ endpoint: ${JSON.stringify(endpoint)} });
        console.log((await client.readGraph({ limit: 1 })).entities.length);`;
      const done = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
        cwd: here,
        encoding: "utf8",
        timeout: 60_000,
      });
      assert.equal(done.status, 0, `${endpoint}: ${done.stderr}`);
      assert.match(done.stdout, /^[01]\n$/);
    }
  });
});

test("CommonJS has the same names", () => {
  const required = createRequire(import.meta.url)("@polymnia/client");
  assert.deepEqual(
    Object.keys(required)
      .filter((name) => name !== "__esModule")
      .sort(),
    Object.keys(package_).sort(),
  );
});

test("one type a code, with code, message and data", async (t) => {
  const types = {
    400: "BadRequestError",
    401: "UnauthorizedError",
    403: "ForbiddenError",
    404: "NotFoundError",
    409: "ConflictError",
    422: "ValidationError",
    429: "RateLimitedError",
    500: "InternalError",
    502: "ServiceUnavailableError",
    503: "RateLimitedError",
    504: "CallTimeoutError",
    [-32002]: "NotFoundError",
    [-32800]: "CancelledError",
    [-32602]: "MCPMemoryError",
  };
  const server = await imitation(t, ({ params }) => ({
    error: {
      code: Number(params.name),
      message: `refused with ${params.name}`,
      data: { details: { field: 1 }, retry_after: 99 },
    },
  }));
  const client = new MCPMemoryClient(server.ws);
  t.after(() => client.close());
  for (const [code, name] of Object.entries(types)) {
    await assert.rejects(client.call(code, {}, { timeout: 5000 }), (error) => {
      assert.ok(
        error instanceof package_[name] && error instanceof package_.MCPMemoryError && error instanceof Error,
      );
      assert.deepEqual([error.name, error.code, error.message], [name, Number(code), `refused with ${code}`]);
      assert.equal(error.data.details.field, 1);
      return true;
    });
  }
});

test("an answer is its structured content, else its JSON, else its text", async (t) => {
  const results = {
    structured: { content: [{ type: "text", text: "no" }], structuredContent: { a: 1 } },
    json: { content: [{ type: "text", text: '{"a":1}' }] },
    remark: {
      content: [
        { type: "text", text: '{"a":1}' },
        { type: "text", text: "2 of 3 are left out." },
      ],
    },
    text: { content: [{ type: "text", text: "a" }] },
    parts: {
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    },
    failed: { content: [{ type: "text", text: "Error: no\nSolution: yes" }], isError: true },
  };
  const server = await imitation(t, ({ params }) => ({ result: results[params.name] }));
  const client = new MCPMemoryClient(server.ws);
  t.after(() => client.close());
  assert.deepEqual(await client.call("structured"), { a: 1 });
  assert.deepEqual(await client.call("json"), { a: 1 });
  assert.deepEqual(await client.call("remark"), { a: 1 });
  assert.equal(await client.call("text"), "a");
  assert.deepEqual(await client.call("parts"), results.parts.content);
  await assert.rejects(client.call("failed"), { name: "ToolError", message: "Error: no\nSolution: yes", code: 0 });
});
