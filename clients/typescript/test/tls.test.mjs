// wss and https with a certificate of one's own.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { after, before, suite, test } from "node:test";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { ConnectionFailedError, MCPMemoryClient } from "@polymnia/client";
import { Server, finished, ran } from "./server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** A certificate for localhost that nobody knows; undefined without openssl. */
function certificate(folder) {
  const [key, cert] = [`${folder}/key.pem`, `${folder}/ca.pem`];
  const given = ["req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=localhost"];
  try {
    execFileSync(
      "openssl",
      [...given, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
      { stdio: "ignore" },
    );
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

suite("TLS", () => {
  const folder = mkdtempSync(`${here}types-`); // where the package can be imported
  let server;
  let proxy;
  let endpoints;
  before(async () => {
    const made = certificate(folder);
    if (!made) return;
    server = await new Server().start();
    proxy = createServer(made, (from) => {
      const to = connect(server.port, "127.0.0.1");
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
      to.on("error", () => from.destroy()).on("close", () => from.destroy());
      from.pipe(to).pipe(from);
    });
    await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address();
    endpoints = [`wss://localhost:${port}/ws`, `https://localhost:${port}/mcp`];
  });
  after(async () => {
    proxy?.close();
    await server?.end();
    rmSync(folder, { recursive: true });
  });
  const withCertificate = (name, run) =>
    test(name, (t) => (endpoints ? run(t) : t.skip("there is no openssl to make a certificate with")));

  withCertificate("a certificate that is not accepted fails at once and says why", async (t) => {
    for (const endpoint of endpoints) {
      const client = new MCPMemoryClient({ endpoint, timeout: Infinity });
      t.after(() => client.close());
      await assert.rejects(client.readGraph(), (error) => {
        assert.ok(error instanceof ConnectionFailedError);
        assert.ok(error.final && error.message.includes(endpoint));
        assert.match(error.message, /certificate is not accepted: self-signed .*DEPTH_ZERO_SELF_SIGNED_CERT/);
        assert.match(error.data.suggestions[0], /NODE_EXTRA_CA_CERTS/);
        return true;
      });
    }
  });

  withCertificate("a server without TLS is named as such", async (t) => {
    for (const endpoint of [server.ws.replace("ws:", "wss:"), server.http.replace("http:", "https:")]) {
      const client = new MCPMemoryClient({ endpoint, timeout: Infinity });
      t.after(() => client.close());
      await assert.rejects(client.readGraph(), { name: "ConnectionFailedError", message: /does not speak TLS/ });
    }
  });

  withCertificate("the WebSocket of the runtime has the same reason", async () => {
    const given = ["--experimental-websocket", "--conditions=browser", "--no-warnings"];
    const script = `import { MCPMemoryClient } from "@polymnia/client";
      const client = new MCPMemoryClient({ endpoint: "${endpoints[0]}", timeout: Infinity });
      await client.readGraph().catch((error) => console.log(error.message));
      process.exit();`;
    const { stdout, stderr } = await ran(script, { given });
    assert.match(stdout, /certificate is not accepted: self-signed certificate/, stderr);
  });

  withCertificate("the example of the README works with NODE_EXTRA_CA_CERTS", async () => {
    const [, example] = /```typescript\n([^`]*wss:[^`]*)```/.exec(readme);
    const [, line] = /```sh\n([^`]*NODE_EXTRA_CA_CERTS[^`]*)```/.exec(readme);
    for (const endpoint of endpoints) {
      const text = example.replace("wss://localhost:9443/ws", endpoint);
      assert.notEqual(text, example);
      writeFileSync(`${folder}/app.mjs`, text);
      const done = await finished(spawn("sh", ["-c", line], { cwd: folder }));
      assert.equal(done.status, 0, done.stderr);
    }
  });
});
