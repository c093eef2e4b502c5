/** The entry for Node, Deno and Bun: what `index.ts` has, with what these runtimes can do beyond it. */
import { debuglog } from "node:util";
import { platform } from "./platform.js";

const { Bun, Deno } = globalThis as any;
const builtIn = platform.socket;

if (!Bun && !Deno) {
  // ws: before version 22 Node has no WebSocket, and the one it has cannot let a process end while it is open.
  platform.socket = async (url, headers) => {
    let ws: typeof import("ws");
    try {
      ws = await import("ws");
    } catch {
      return builtIn(url, headers);
    }
    const socket = new ws.WebSocket(url, "mcp", { headers, perMessageDeflate: false, maxPayload: 0 });
    socket.once("upgrade", ({ socket: wire }) => {
      socket.hold = (busy) => void (busy ? wire.ref() : wire.unref());
    });
    return socket;
  };
}

platform.debug = debuglog("polymnia"); // shown with NODE_DEBUG=polymnia
platform.stdio = async (command, options) => new (await import("./stdio.js")).StdioTransport(command, options);

export * from "./index.js";
