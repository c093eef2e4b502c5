import { ConnectionFailedError, errorOf } from "./errors.js";
import { platform, type Socket } from "./platform.js";
import type { Link, LinkEvents, Transport } from "./transport.js";

/** A WebSocket: a message a frame. */
export class WebSocketTransport implements Transport {
  constructor(
    readonly address: string,
    private readonly headers: Record<string, string>,
  ) {}

  async open(events: LinkEvents, signal: AbortSignal): Promise<Link> {
    const socket = await platform.socket(this.address, this.headers);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.onopen = () => resolve();
        socket.onerror = (event) => reject(event.error ?? new Error(event.message || "the connection failed"));
        socket.onclose = (event) => reject(new Error(`closed with ${event.code}`));
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    } catch (error) {
      socket.onopen = socket.onclose = null;
      socket.onerror = () => {};
      socket.close();
      throw (
        (await this.#refusal(signal)) ??
        new ConnectionFailedError(`Cannot connect to ${this.address}`, { cause: error })
      );
    }
    return new SocketLink(socket, events, this.address);
  }

  /** Why the server refused. A WebSocket does not say, but the same address asked by HTTP does. */
  async #refusal(signal: AbortSignal): Promise<Error | undefined> {
    try {
      const response = await fetch(this.address.replace(/^ws/, "http"), { headers: this.headers, signal });
      const { error } = (await response.json()) as any;
      if (response.status === 426 || typeof error?.message !== "string") return undefined;
      const after = Number(response.headers.get("retry-after"));
      if (after) error.data = { retry_after: after, ...error.data };
      return errorOf(error);
    } catch {
      return undefined;
    }
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
        const error = { code: -32600, message: event.reason || "The message is too large" };
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
