import { ConnectionFailedError, errorOf } from "./errors.js";
import { platform, type Socket } from "./platform.js";
import { codeOf, isElsewhere, isPassing, noEndpoint, passing, refused, unreachable } from "./reasons.js";
import type { Link, LinkEvents, Transport } from "./transport.js";

/** A WebSocket: a message a frame. */
export class WebSocketTransport implements Transport {
  constructor(
    readonly address: string,
    private readonly headers: Record<string, string>,
  ) {}

  async open(events: LinkEvents, signal: AbortSignal): Promise<Link> {
    let socket: Socket;
    try {
      socket = await platform.socket(this.address, this.headers);
    } catch (cause: any) {
      if (cause instanceof ConnectionFailedError) throw cause;
      // What the runtime does not let this program open, it will not let it open later.
      throw new ConnectionFailedError(`Cannot connect to ${this.address}: ${cause?.message}`, { cause, final: true });
    }
    try {
      await new Promise<void>((resolve, reject) => {
        socket.onopen = () => resolve();
        socket.onerror = (event) => reject(event.error ?? new Error(event.message ?? ""));
        socket.onclose = (event) => reject(new Error(event.reason || `closed with ${event.code}`));
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    } catch (error) {
      socket.onopen = socket.onclose = null;
      socket.onerror = () => {};
      socket.close();
      const known = signal.aborted || codeOf(error) !== undefined;
      throw (known ? undefined : await this.#refusal(signal)) ?? unreachable(this.address, error);
    }
    return new SocketLink(socket, events, this.address);
  }

  /** Why there is no WebSocket, where it does not say itself: the same address asked by HTTP does. */
  async #refusal(signal: AbortSignal): Promise<Error | undefined> {
    let response: Response;
    const url = this.address.replace(/^ws/, "http");
    try {
      response = await fetch(url, { headers: this.headers, redirect: "manual", signal });
    } catch (error) {
      return codeOf(error) === undefined ? undefined : unreachable(this.address, error);
    }
    const { status, headers } = response;
    const isJson = headers.get("content-type")?.startsWith("application/json");
    const { error } = (isJson ? await response.json().catch(() => undefined) : undefined) ?? ({} as any);
    if (!response.bodyUsed) response.body?.cancel().catch(() => {});
    if (status === 426 || status === 0) return undefined; // here is a WebSocket, or a redirect browsers do not show
    if (status < 300 || isElsewhere(status)) return noEndpoint(this.address, response);
    if (typeof error?.message === "string") {
      const after = Number(headers.get("retry-after"));
      if (after) error.data = { retry_after: after, ...error.data };
      return errorOf(error);
    }
    if (status === 401 || status === 403) return errorOf(refused(this.address, response));
    return isPassing(status) ? passing(this.address, response) : undefined;
  }
}

const TOO_LARGE = 1009;

class SocketLink implements Link {
  readonly #socket: Socket;
  #largest = 0; // characters of the largest request that was sent
  #largestId: number | undefined;

  constructor(socket: Socket, events: LinkEvents, address: string) {
    this.#socket = socket;
    socket.onmessage = (event) => {
      let message;
      try {
        message = JSON.parse(event.data);
      } catch (cause) {
        this.close();
        events.closed(new ConnectionFailedError(`${address} sent something that is not JSON`, { cause }));
        return;
      }
      events.message(message);
    };
    socket.onerror = () => {};
    socket.onclose = (event) => {
      if (event.code === TOO_LARGE && this.#largestId !== undefined) {
        // It would be refused again. Over HTTP and stdio the server says so with this code.
        const suggestions = ["Send less at once, or raise --max-message-bytes of the server"];
        const data = { error_type: "bad_request", details: {}, suggestions };
        const error = { code: -32600, message: event.reason || "The message is too large", data };
        events.message({ jsonrpc: "2.0", id: this.#largestId, error });
      }
      const why = event.reason ? `: ${event.reason}` : "";
      events.closed(new ConnectionFailedError(`The connection to ${address} was closed (${event.code}${why})`));
    };
  }

  send(text: string, id?: number): void {
    if (text.length > this.#largest) {
      this.#largest = text.length;
      this.#largestId = id;
    }
    this.#socket.send(text);
  }

  hold(busy: boolean): void {
    this.#socket.hold?.(busy);
  }

  close(): void {
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close(1000);
  }
}
