// Servers for the tests: real ones with a fresh store each, and an imitation that answers what a test wants.
import { spawn, execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { connect, createServer as createProxy } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = process.env.POLYMNIA?.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'(.*)'$/, "$1")) ?? [
  join(ROOT, ".venv", "bin", "python"),
  "-m",
  "polymnia",
];
const PLENTY = ["--rate-limit", "999999999", "--rate-limit-session", "999999999", "--rate-limit-heavy", "999999999"];

/** The command of the server with some arguments. */
export const command = (...given) => [...COMMAND, ...given];

/** The same with rate limits for windows of some seconds in place of a minute; undefined for an unknown command. */
export const hasty = (seconds, ...given) => {
  if (COMMAND.at(-1) !== "polymnia" || COMMAND.at(-2) !== "-m") return undefined;
  const script = `import sys
from polymnia.cli import main
from polymnia.transports.web import state
state.WINDOW = ${seconds}.0
sys.exit(main())`;
  return [...COMMAND.slice(0, -2), "-c", script, ...given];
};

/** Runs a script as a module of its own process; ended after a while if it does not end by itself. */
export async function ran(script, { given = [], env = {}, cwd = HERE } = {}) {
  const parameters = [...given, "--input-type=module", "-e", script];
  return finished(spawn(process.execPath, parameters, { cwd, env: { ...process.env, ...env } }));
}

/** How a process ends, and what it says. */
export async function finished(child) {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const [status, signal] = await new Promise((resolve) => child.once("close", (...how) => resolve(how)));
  clearTimeout(timer);
  return { status, signal, ...said };
}

/** A port where nobody listens. */
export async function freePort() {
  const server = createProxy();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An HTTP server that answers what a test wants. */
export async function answering(test, answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return server.address().port;
}

/** A server of its own: an address, a store, keys; it can be killed and started again at the same port. */
export class Server {
  folder = mkdtempSync(join(tmpdir(), "polymnia-client-"));
  port = 0;

  /** Ends with the test. */
  static async start(test, options = PLENTY, window = undefined) {
    const server = new Server();
    server.window = window;
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
    given.push("--keys", join(this.folder, "keys.json"), ...options);
    const [program, ...parameters] = this.window ? hasty(this.window, ...given) : command(...given);
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
