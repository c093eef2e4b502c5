import { ConnectionFailedError, errorOf } from "./errors.js";
import { streamEvents } from "./events.js";
import { isElsewhere, isNotSent, isPassing, noEndpoint, passing, refused, unreachable } from "./reasons.js";
import type { Link, LinkEvents, Message, Transport } from "./transport.js";
import { backoff, sleep } from "./waiting.js";

const SILENCE = 45_000; // the server shows every 15 s that a stream is alive
const NOTICE = 5000; // milliseconds for a notification, which nobody waits for
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
  readonly #open = new Map<number | symbol, AbortController>(); // by request, or one of its own for a notification
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
    for (const one of this.#open.values()) one.abort();
    this.listen(false);
    if (session !== undefined) {
      await fetch(this.url, { method: "DELETE", headers: this.#headed(), signal: AbortSignal.timeout(2000) }).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    }
  }

  drop(id: number): void {
    this.#open.get(id)?.abort();
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
    const key = id ?? Symbol();
    this.#open.set(key, aborter);
    const timer = id === undefined ? setTimeout(() => aborter.abort(), NOTICE) : undefined;
    try {
      await this.#exchange(text, id, aborter.signal);
    } finally {
      clearTimeout(timer);
      this.#open.delete(key);
    }
  }

  async #exchange(text: string, id: number | undefined, signal: AbortSignal): Promise<void> {
    const had = this.#session;
    let response: Response;
    let message: Message | undefined;
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
      message = parsed(body);
    } catch (cause) {
      if (id === undefined || signal.aborted) return;
      const error = unreachable(this.url, cause, "No answer from");
      this.events.failed(id, error, !error.final && !isNotSent(cause));
      return;
    }
    if (signal.aborted) return;
    const { status } = response;
    if (status === 404 && had !== undefined) {
      this.#gone(id);
    } else if (had === undefined && isElsewhere(status) && (message?.error?.code ?? status) === status) {
      this.events.failed(id, noEndpoint(this.url, response), false);
    } else if (message === undefined && status < 400) {
      const error = had === undefined ? noEndpoint(this.url, response) : passing(this.url, response);
      this.events.failed(id, error, had !== undefined);
    } else if (message === undefined && isPassing(status)) {
      this.events.failed(id, passing(this.url, response), true);
    } else {
      message ??= { jsonrpc: "2.0", error: refused(this.url, response) };
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
          const error = parsed(await response.text())?.error ?? refused(this.url, response);
          if (response.status === 404) return this.#gone();
          if (response.status === 400) last = undefined; // of a stream that is kept no more
          if (response.status === 401 || response.status === 403) return this.events.closed(errorOf(error));
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
