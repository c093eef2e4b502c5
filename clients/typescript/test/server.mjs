// Servers for the tests: real ones with a fresh store each, and an imitation that answers what a test wants.
import { spawn, execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { connect, createServer as createProxy } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = process.env.POLYMNIA?.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'(.*)'$/, "$1")) ?? [
  join(ROOT, ".venv", "bin", "python"),
  "-m",
  "polymnia",
];
const PLENTY = ["--rate-limit", "999999999", "--rate-limit-session", "999999999", "--rate-limit-heavy", "999999999"];

/** The command of the server with some arguments. */
export const command = (...given) => [...COMMAND, ...given];

/** A server of its own: an address, a store, keys; it can be killed and started again at the same port. */
export class Server {
  folder = mkdtempSync(join(tmpdir(), "polymnia-client-"));
  port = 0;

  /** Ends with the test. */
  static async start(test, options = PLENTY) {
    const server = new Server();
    test.after(() => server.end());
    await server.start(options);
    return server;
  }

  async start(options = this.options ?? PLENTY) {
    this.options = options;
    const given = [
      "serve",
      "--port",
      String(this.port),
      "--store",
      join(this.folder, "memory.db"),
      "--embedder",
      "none",
    ];
    const [program, ...parameters] = command(...given, "--keys", join(this.folder, "keys.json"), ...options);
    this.process = spawn(program, parameters, { env: this.environment, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    await new Promise((resolve, reject) => {
      this.process.once("close", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
      this.process.stderr.on("data", (text) => {
        said += text;
        const found = /http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(said);
        if (found) resolve((this.port = Number(found[1])));
      });
    });
    return this;
  }

  get environment() {
    return { ...process.env, XDG_CONFIG_HOME: this.folder, XDG_DATA_HOME: this.folder, POLYMNIA_URL: undefined };
  }

  get ws() {
    return `ws://127.0.0.1:${this.port}/ws`;
  }

  get http() {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Makes a key. */
  key(...given) {
    const [program, ...parameters] = command("keys", ...given, "--keys", join(this.folder, "keys.json"));
    return execFileSync(program, parameters, {
      env: this.environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  }

  kill(signal = "SIGKILL") {
    const { process } = this;
    if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      process.once("exit", resolve);
      process.kill(signal);
    });
  }

  async end() {
    await this.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The server all tests of a file share: the one at POLYMNIA_URL, else one of our own. */
export async function shared() {
  const url = process.env.POLYMNIA_URL;
  if (!url) return new Server().start();
  const { protocol, host } = new URL(url);
  const secure = protocol === "https:" || protocol === "wss:" ? "s" : "";
  return { ws: `ws${secure}://${host}/ws`, http: `http${secure}://${host}/mcp` };
}

/** Something that speaks JSON-RPC over WebSocket and answers requests as `answer(message, socket)` says. */
export async function imitation(test, answer) {
  const http = createServer((_, response) => response.writeHead(426).end());
  const server = new WebSocketServer({ server: http });
  const heard = [];
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      const message = JSON.parse(data);
      heard.push(message);
      if (message.id === undefined) return;
      const said = message.method === "initialize" ? { result: { capabilities: {} } } : answer(message, socket);
      if (said) socket.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...said }));
    });
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  test.after(() => {
    for (const socket of server.clients) socket.terminate();
    http.close();
    http.closeAllConnections();
  });
  return { ws: `ws://127.0.0.1:${http.address().port}/ws`, heard };
}

/** Something between client and server: `pass(data)` sees what the server sends, and cuts the connection by false. */
export async function between(test, port, pass) {
  const asked = [];
  const proxy = createProxy((from) => {
    const to = connect(port, "127.0.0.1");
    from.on("data", (data) => {
      asked.push(String(data));
      to.write(data);
    });
    to.on("data", (data) => {
      if (pass(String(data))) return from.write(data);
      from.destroy();
      to.destroy();
    });
    for (const [one, two] of [
      [from, to],
      [to, from],
    ])
      one.on("error", () => {}).on("close", () => two.destroy());
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  test.after(() => proxy.close());
  return { port: proxy.address().port, asked };
}
