/** A server of one's own, started by a command and talked to through its stdin and stdout. Node, Deno and Bun only. */
import { spawn } from "node:child_process";
import { ConnectionFailedError } from "./errors.js";
import type { StdioOptions } from "./platform.js";
import type { Link, LinkEvents, Transport } from "./transport.js";

const TAIL = 2000; // characters of stderr that an error quotes
const PATIENCE = 5000; // milliseconds for the server to end by itself

export type { StdioOptions } from "./platform.js";
export type { Transport } from "./transport.js";

/** `new MCPMemoryClient({ endpoint: new StdioTransport(["polymnia", "stdio"]) })` */
export class StdioTransport implements Transport {
  readonly address: string;

  constructor(
    private readonly command: readonly string[] = ["polymnia", "stdio"],
    private readonly options: StdioOptions = {},
  ) {
    this.address = command.join(" ");
  }

  async open(events: LinkEvents): Promise<Link> {
    const [program, ...parameters] = this.command;
    const { env, cwd } = this.options;
    const child = spawn(program!, parameters, { env: { ...process.env, ...env }, cwd, windowsHide: true });
    let said = "";
    let rest = "";
    let over = false;
    let answered = false;
    const end = (error: ConnectionFailedError) => {
      if (over) return;
      over = true;
      events.closed(error);
    };
    const exited = new Promise<void>((resolve) => {
      child.once("close", (code, signal) => {
        resolve();
        const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
        const when = answered ? "" : " before it answered";
        const why = said.trim() ? `: ${said.trim()}` : "";
        // What never answered does not speak the protocol, or refuses its command; a server that crashed starts again.
        end(new ConnectionFailedError(`${this.address} ${how}${when}${why}`, { final: !answered }));
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => {
        reject(new ConnectionFailedError(`Cannot start ${this.address}: ${cause.message}`, { cause, final: true }));
      });
    });
    child.stdin.on("error", () => {}); // it has ended, and "close" says so
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-TAIL);
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (!line.trim()) continue;
        let message;
        try {
          message = JSON.parse(line);
        } catch (cause) {
          child.kill();
          const wrote = `${this.address} wrote something that is not JSON: ${line.slice(0, 200)}`;
          return end(new ConnectionFailedError(wrote, { cause, final: true }));
        }
        answered = true;
        events.message(message);
      }
    });
    return {
      send: (text) => void child.stdin.write(text + "\n"),
      hold: (busy) => {
        for (const one of [child, child.stdin, child.stdout, child.stderr] as any[])
          (busy ? one.ref : one.unref)?.call(one);
      },
      close: async () => {
        over = true;
        child.stdin.end();
        if (!answered) child.kill(); // it may never read its stdin
        const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
        await exited;
        clearTimeout(timer);
      },
    };
  }
}
