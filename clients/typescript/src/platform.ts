import { ConnectionFailedError } from "./errors.js";
import type { Transport } from "./transport.js";

/** The part of a WebSocket that is used here: every runtime's has it. */
export interface Socket {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  send(text: string): void;
  close(code?: number): void;
  /** Says whether the process has to stay alive for it, where a runtime can tell. */
  hold?: (busy: boolean) => void;
}

export interface StdioOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
}

/** What differs between runtimes. `node.ts` replaces what Node does in another way. */
export const platform = {
  /** Says what may be of interest to somebody who looks for a fault. */
  debug(text: string): void {
    console.debug(`polymnia: ${text}`);
  },

  async socket(url: string, headers: Record<string, string>): Promise<Socket> {
    if (typeof WebSocket === "undefined") {
      throw new ConnectionFailedError(
        "This runtime has no WebSocket. Install the package ws, or use an http endpoint.",
        {
          final: true,
        },
      );
    }
    if (!Object.keys(headers).length) return new WebSocket(url, "mcp");
    if (!(globalThis as any).process?.versions?.node) {
      throw new ConnectionFailedError(
        "Browsers cannot send a key or headers when they open a WebSocket. Use the http endpoint (/mcp) of the server.",
        { final: true },
      );
    }
    return new WebSocket(url, { protocols: ["mcp"], headers } as any); // Bun, Deno and Node take headers here
  },

  async stdio(_command: readonly string[], _options: StdioOptions): Promise<Transport> {
    throw new ConnectionFailedError(
      "A server can only be started from Node, Deno or Bun. Use a ws or http endpoint.",
      {
        final: true,
      },
    );
  },
};
