import { ConnectionFailedError, errorOf } from "./errors.js";
import { streamEvents } from "./events.js";
import type { Link, LinkEvents, Message, Transport } from "./transport.js";
import { backoff, sleep } from "./waiting.js";

const SILENCE = 45_000; // the server shows every 15 s that a stream is alive
const ANSWERS = "application/json, text/event-stream";

/** Streamable HTTP: a message a POST, answered as JSON or as a stream of events that can be resumed. */
export class HttpTransport implements Transport {
  constructor(
    readonly address: string,
    private readonly headers: Record<string, string>,
  ) {}

  async open(events: LinkEvents): Promise<Link> {
    return new HttpLink(this.address, this.headers, events);
  }
}

class HttpLink implements Link {
  readonly #open = new Set<AbortController>(); // one a request: a signal that many share would collect their listeners
  #session: string | undefined;
  #listening: AbortController | undefined; // ends the stream of what is said unasked

  constructor(
    private readonly url: string,
    private readonly headers: Record<string, string>,
    private readonly events: LinkEvents,
  ) {}

  send(text: string, id?: number): void {
    void this.#post(text, id);
  }

  async close(): Promise<void> {
    const session = this.#session;
    for (const one of this.#open) one.abort();
    this.listen(false);
    if (session !== undefined) {
      await fetch(this.url, { method: "DELETE", headers: this.#headed(), signal: AbortSignal.timeout(2000) }).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    }
  }

  listen(wanted: boolean): void {
    if (wanted === (this.#listening !== undefined)) return;
    this.#listening?.abort();
    this.#listening = wanted ? new AbortController() : undefined;
    if (this.#listening) void this.#listen(this.#listening.signal);
  }

  #headed(more: Record<string, string> = {}): Record<string, string> {
    const headers = { ...this.headers, ...more };
    if (this.#session !== undefined) {
      headers["mcp-session-id"] = this.#session;
      headers["mcp-protocol-version"] = "2025-11-25";
    }
    return headers;
  }

  async #post(text: string, id: number | undefined): Promise<void> {
    const aborter = new AbortController();
    this.#open.add(aborter);
    try {
      await this.#exchange(text, id, aborter.signal);
    } finally {
      this.#open.delete(aborter);
    }
  }

  async #exchange(text: string, id: number | undefined, signal: AbortSignal): Promise<void> {
    const had = this.#session;
    let response: Response;
    let message: Message;
    try {
      response = await fetch(this.url, {
        method: "POST",
        headers: this.#headed({ "content-type": "application/json", accept: ANSWERS }),
        body: text,
        signal,
      });
      this.#session = response.headers.get("mcp-session-id") ?? this.#session;
      if (id === undefined || response.headers.get("content-type")?.startsWith("text/event-stream")) {
        if (id === undefined) await response.body?.cancel();
        else await this.#follow(response, id, signal);
        return;
      }
      const body = await response.text();
      message = parsed(body) ?? bare(response);
    } catch (cause) {
      if (id !== undefined && !signal.aborted) {
        this.events.failed(id, this.#unreachable(cause), !isRefused(cause));
      }
      return;
    }
    if (signal.aborted) return;
    if (response.status === 404 && had !== undefined) {
      this.#gone(id);
    } else if (message.error && message.error.code === 0) {
      this.events.failed(id, new ConnectionFailedError(message.error.message), true);
    } else {
      const after = Number(response.headers.get("retry-after"));
      if (message.error && after) message.error.data = { retry_after: after, ...message.error.data };
      this.events.message({ ...message, id });
    }
  }

  /** Reads the stream that answers a request; where it breaks, its rest is asked for. */
  async #follow(response: Response, id: number, signal: AbortSignal): Promise<void> {
    let last: string | undefined;
    let wait = 1000;
    let answered = false;
    let broken: unknown = new Error("the stream ended before the answer");
    for (let attempt = 0; ; attempt++) {
      try {
        if (attempt > 0) {
          await sleep(attempt > 1 ? Math.max(wait, backoff(attempt)) : 0, signal);
          response = await this.#get(last, signal);
        }
        if (response.status === 404) return this.#gone();
        if (response.status !== 200) break;
        for await (const event of streamEvents(response.body!, SILENCE)) {
          attempt = 0;
          last = event.id ?? last;
          wait = event.retry ?? wait;
          if (!event.data) continue;
          const message: Message = JSON.parse(event.data);
          answered ||= message.id === id && message.method === undefined;
          this.events.message(message);
        }
      } catch (cause) {
        broken = cause;
      }
      if (answered || signal.aborted) return;
      if (last === undefined) break;
    }
    throw broken;
  }

  /** Reads what the server says unasked. */
  async #listen(stopped: AbortSignal): Promise<void> {
    let last: string | undefined;
    for (let attempt = 0; !stopped.aborted; attempt++) {
      try {
        const response = await this.#get(last, stopped);
        if (response.status === 200) {
          for await (const event of streamEvents(response.body!, SILENCE)) {
            attempt = 0;
            last = event.id ?? last;
            if (event.data) this.events.message(JSON.parse(event.data));
          }
        } else {
          const refused = parsed(await response.text()) ?? bare(response);
          if (response.status === 404) return this.#gone();
          if (response.status === 400) last = undefined; // of a stream that is kept no more
          if (response.status === 401 || response.status === 403) return this.events.closed(errorOf(refused.error!));
        }
      } catch {
        // the connection broke; it is opened again below
      }
      await sleep(backoff(attempt), stopped).catch(() => {});
    }
  }

  #get(last: string | undefined, signal: AbortSignal): Promise<Response> {
    const resume: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
    return fetch(this.url, {
      headers: this.#headed({ accept: "text/event-stream", ...resume }),
      signal,
    });
  }

  /** The session is no more: of this server, or of the one that was there before. */
  #gone(unseen?: number): void {
    this.#session = undefined;
    this.events.closed(new ConnectionFailedError("The server has ended the session"), unseen);
  }

  #unreachable(cause: any): ConnectionFailedError {
    const why = cause?.cause?.code ?? cause?.cause?.message ?? cause?.message ?? cause;
    return new ConnectionFailedError(`No answer from ${this.url}: ${why}`, { cause });
  }
}

function parsed(body: string): Message | undefined {
  try {
    const message = JSON.parse(body);
    return message !== null && typeof message === "object" && ("result" in message || "error" in message)
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}

/** An answer that is no message, as a message: of a proxy, or of something else that listens there. */
function bare(response: Response): Message {
  const passing = response.status >= 500 || response.status === 408 || response.status === 429;
  return {
    jsonrpc: "2.0",
    error: {
      code: passing || response.status < 400 ? 0 : response.status,
      message: `${response.url} answered ${response.status} ${response.statusText}, which is no answer of Polymnia`,
    },
  };
}

/** Whether a request certainly did not leave: nobody listens there. Browsers do not say. */
function isRefused(cause: any): boolean {
  const codes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ConnectionRefused"];
  return codes.includes(cause?.cause?.code ?? cause?.code);
}
