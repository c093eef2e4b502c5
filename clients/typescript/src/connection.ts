import { ConnectionFailedError, MCPMemoryError, RateLimitedError, CallTimeoutError, errorOf } from "./errors.js";
import { platform } from "./platform.js";
import type { Link, LinkEvents, Message, Transport } from "./transport.js";
import { backoff, sleep } from "./waiting.js";

const VERSION = "2025-11-25";
const HANDSHAKE = 30_000; // milliseconds for a connection to open and be greeted
const PULSE = 30_000; // milliseconds between two pings of a connection that has nothing but subscriptions
const LONGEST = 2 ** 31 - 1; // milliseconds a timer can wait

/** How far a call is. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** What any call may be given. */
export interface CallOptions {
  /**
   * Milliseconds until the call is withdrawn, whatever it waits for: a connection, the answer, a pause the server asks
   * for. `Infinity`: never; 0: at once. Without it the client's own timeout holds, which does not count such pauses.
   * A write that is withdrawn may have been done.
   */
  timeout?: number;
  /** Withdraws the call, which then rejects with the signal's reason. A write that is withdrawn may have been done. */
  signal?: AbortSignal;
  /** Hears how far a long call is, for the last time before the call is answered. */
  onProgress?: (progress: Progress) => void;
}

/** News of a resource. */
export interface ResourceUpdate {
  uri: string;
  /** Set where the connection was lost and is there again: what changed meanwhile was not heard of. */
  reconnected?: true;
}

/** A subscription; it lasts, through reconnections, until it is ended. */
export interface Subscription {
  readonly uri: string;
  unsubscribe(): Promise<void>;
}

interface Call {
  readonly method: string;
  readonly what: string; // what an error calls it
  readonly params: string | undefined; // as JSON
  readonly resolve: (result: any) => void;
  readonly reject: (error: unknown) => void;
  readonly repeatable: boolean;
  readonly isStrict: boolean; // its timeout was given with the call, and bounds pauses too
  readonly timeout: number;
  deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly token: number; // of its progress; 0 where nobody wants to know
  readonly direct: Link | undefined; // part of the handshake of this link
  timer: ReturnType<typeof setTimeout> | undefined;
  pause: ReturnType<typeof setTimeout> | undefined;
  withdraw: (() => void) | undefined;
  id: number; // 0 where it is not with the server
  heard: number; // how much had been heard from the server when it was sent
  attempts: number;
  last: Error | undefined; // why it is not answered yet
}

interface Watcher {
  readonly callback: (update: ResourceUpdate) => void;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** JSON-RPC with one server: opened when it is first needed, and again whenever it is lost. */
export class Connection {
  readonly #transport: Transport;
  readonly #timeout: number;
  readonly #hello: Record<string, unknown>;
  readonly #told: ((method: string, params: any) => void) | undefined;
  readonly #calls = new Set<Call>(); // everything that is owed an answer
  readonly #sent = new Map<number, Call>(); // what is with the server, by id
  readonly #followed = new Map<number, Call>(); // whose progress somebody wants to know, by token
  readonly #watchers = new Map<string, Set<Watcher>>();
  #queue = new Set<Call>(); // what waits for a connection
  #link: Link | undefined;
  #connecting: Promise<void> | undefined;
  #ended = new AbortController();
  #pursuit = new AbortController(); // ends the attempts to connect when nobody waits for them any more
  #resumes = 0; // until when the server wants no connection
  #last: unknown; // why there is no connection
  #next = 1;
  #heard = 0;
  #held = false;
  #pulse: ReturnType<typeof setInterval> | undefined;
  /** What the server said in the handshake. */
  server: Record<string, any> | undefined;

  constructor(
    transport: Transport,
    timeout: number,
    clientInfo: { name: string; version: string },
    told: ((method: string, params: any) => void) | undefined,
  ) {
    this.#transport = transport;
    this.#timeout = timeout;
    this.#hello = { protocolVersion: VERSION, capabilities: {}, clientInfo };
    this.#told = told;
  }

  /** Sends a request. `repeatable`: the server may get it twice and does it once. */
  request(method: string, params?: Record<string, any>, options: CallOptions = {}, repeatable = true): Promise<any> {
    return this.#request(method, params, options, repeatable, undefined);
  }

  /** Hears of changes of a resource. */
  async subscribe(
    uri: string,
    callback: (update: ResourceUpdate) => void,
    options: CallOptions & { onError?: (error: unknown) => void } = {},
  ): Promise<Subscription> {
    const watcher: Watcher = { callback, onError: options.onError };
    let watchers = this.#watchers.get(uri);
    if (watchers === undefined) this.#watchers.set(uri, (watchers = new Set()));
    watchers.add(watcher);
    const remove = () => {
      const found = this.#watchers.get(uri);
      if (!found?.delete(watcher) || found.size) return false;
      this.#watchers.delete(uri);
      this.#balance();
      this.#rest();
      return true;
    };
    try {
      await this.request("resources/subscribe", { uri }, options);
    } catch (error) {
      remove();
      throw error;
    }
    this.#balance();
    return {
      uri,
      unsubscribe: async () => {
        if (remove() && this.#link) await this.request("resources/unsubscribe", { uri });
      },
    };
  }

  /** Ends the connection and whatever is under way. */
  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const error = new ConnectionFailedError("The client was closed", { final: true });
    this.#ended.abort(error);
    this.#pursuit.abort(error);
    this.#watchers.clear();
    const link = this.#link;
    this.#lose();
    for (const call of [...this.#calls]) this.#settle(call).reject(error);
    await link?.close();
  }

  #request(
    method: string,
    params: Record<string, any> | undefined,
    options: CallOptions,
    repeatable: boolean,
    direct: Link | undefined,
  ): Promise<any> {
    return new Promise((resolve, reject) => {
      const { signal, onProgress, timeout = this.#timeout } = options;
      if (this.#ended.signal.aborted) return reject(this.#ended.signal.reason);
      if (signal?.aborted) return reject(signal.reason);
      checkTimeout(timeout);
      const what = params?.["name"] ?? method;
      if (timeout === 0) return reject(timedOut(`The timeout of ${what} is 0: it was not sent`, 0));
      const token = onProgress ? this.#next++ : 0;
      const sent = token ? { ...params, _meta: { ...params?.["_meta"], progressToken: token } } : params;
      const call: Call = {
        method,
        what,
        params: JSON.stringify(sent), // what is not JSON fails here, and nothing of it is sent
        resolve,
        reject,
        repeatable,
        isStrict: options.timeout !== undefined,
        timeout,
        deadline: performance.now() + timeout,
        signal,
        onProgress,
        token,
        direct,
        timer: undefined,
        pause: undefined,
        withdraw: undefined,
        id: 0,
        heard: 0,
        attempts: 0,
        last: undefined,
      };
      this.#time(call);
      if (signal) {
        call.withdraw = () => this.#withdraw(call, "the caller withdrew the call", signal.reason);
        signal.addEventListener("abort", call.withdraw, { once: true });
      }
      this.#calls.add(call);
      if (token) this.#followed.set(token, call);
      this.#dispatch(call);
    });
  }

  /** Has the call expire at its deadline. */
  #time(call: Call): void {
    clearTimeout(call.timer);
    const left = call.deadline - performance.now();
    if (left <= LONGEST) call.timer = setTimeout(() => this.#expire(call), left);
  }

  /** Lets a call wait as long as the server says. Answers whether it can: a timeout given with the call holds. */
  #pause(call: Call, error: RateLimitedError, wait: number): boolean {
    if (!call.isStrict) {
      call.deadline += wait;
      this.#time(call);
    } else if (performance.now() + wait > call.deadline) {
      this.#settle(call).reject(error);
      return false;
    }
    platform.debug(`${call.what} waits ${Math.round(wait) / 1000} s, as the server says: ${error.message}`);
    return true;
  }

  /** Whether there is something to connect for. */
  get #isWanted(): boolean {
    return this.#queue.size > 0 || this.#watchers.size > 0;
  }

  #dispatch(call: Call): void {
    const link = call.direct ?? this.#link;
    if (link === undefined) {
      this.#queue.add(call);
      const wait = this.#resumes - performance.now();
      if (wait > 0 && this.#last instanceof RateLimitedError && !this.#pause(call, this.#last, wait)) return;
      if (this.#connecting === undefined) this.#reconnect();
      return;
    }
    const id = (call.id = this.#next++);
    call.heard = this.#heard;
    this.#sent.set(id, call);
    if (!this.#held) this.#balance();
    const params = call.params === undefined ? "" : `,"params":${call.params}`;
    try {
      link.send(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(call.method)}${params}}`, id);
    } catch (cause) {
      this.#failed(id, new ConnectionFailedError("The message could not be sent", { cause }), false);
    }
  }

  /** Forgets a call that gets its answer now. */
  #settle(call: Call): Call {
    this.#calls.delete(call);
    if (call.id) this.#sent.delete(call.id);
    else this.#queue.delete(call);
    clearTimeout(call.timer);
    clearTimeout(call.pause);
    if (call.token) this.#followed.delete(call.token);
    if (call.withdraw) call.signal!.removeEventListener("abort", call.withdraw);
    if (this.#sent.size === 0) this.#balance();
    this.#rest();
    return call;
  }

  /** Ends the attempts to connect that nobody waits for. */
  #rest(): void {
    if (this.#connecting !== undefined && !this.#isWanted) this.#pursuit.abort(new Error("nobody waits any more"));
  }

  #withdraw(call: Call, reason: string, error: unknown): void {
    const { id } = call;
    this.#settle(call).reject(error);
    if (!id) return;
    if (call.method !== "initialize") this.#notify("notifications/cancelled", { requestId: id, reason });
    (call.direct ?? this.#link)?.drop?.(id);
  }

  #expire(call: Call): void {
    const silent = call.id !== 0 && call.heard === this.#heard;
    const seconds = call.timeout / 1000;
    let error: MCPMemoryError;
    if (call.id === 0) {
      const cause = this.#last ?? call.last;
      const reason = why(cause) || ": it has not answered";
      const text = `No connection to ${this.#transport.address} within ${seconds} s${reason}`;
      const suggestions = cause instanceof ConnectionFailedError ? cause.data.suggestions : [];
      error = cause instanceof RateLimitedError ? cause : new ConnectionFailedError(text, { cause, suggestions });
    } else {
      error = timedOut(`No answer to ${call.what} within ${seconds} s`, seconds);
    }
    this.#withdraw(call, "the caller stopped waiting", error);
    // Nothing at all was heard all the time: the other end may be gone without a word.
    if (silent && !call.direct && this.#link && this.#sent.size === 0) void this.#ping(this.#link);
  }

  #notify(method: string, params: Record<string, any>): void {
    try {
      this.#link?.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
    } catch {
      // the link is about to be lost, and the server then withdraws by itself
    }
  }

  // ── opening ──────────────────────────────────────────────────────────────────────────────────────────

  async #connect(): Promise<void> {
    const again = this.server !== undefined;
    const { signal } = (this.#pursuit = new AbortController());
    for (let attempt = 0; this.#isWanted && !signal.aborted; attempt++) {
      try {
        await this.#open(again, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#last = error;
        if (isFinal(error)) return this.#giveUp(error);
        let wait = backoff(attempt);
        if (error instanceof RateLimitedError && error.retryAfter) {
          wait = Math.max(wait, error.retryAfter * 1000);
          this.#resumes = performance.now() + wait;
          for (const call of [...this.#queue]) this.#pause(call, error, wait);
        }
        if (this.#isWanted) await sleep(Math.min(wait, LONGEST), signal).catch(() => {});
      }
    }
  }

  async #open(again: boolean, signal: AbortSignal): Promise<void> {
    const opening = new AbortController();
    const stop = () => opening.abort(signal.reason);
    const timer = setTimeout(() => opening.abort(new Error(`not open within ${HANDSHAKE / 1000} s`)), HANDSHAKE);
    signal.addEventListener("abort", stop, { once: true });
    let link: Link | undefined;
    let lost: Error | undefined;
    const events: LinkEvents = {
      message: (message) => this.#message(message),
      failed: (id, error, reached) => this.#failed(id, error, reached),
      closed: (error, unseen) => {
        lost ??= error;
        if (link) this.#closed(link, error, unseen);
      },
    };
    try {
      link = await this.#transport.open(events, opening.signal);
      if (lost) throw lost;
      const direct = { timeout: HANDSHAKE, signal: opening.signal };
      const hello = await this.#request("initialize", this.#hello, direct, false, link);
      link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      for (const uri of [...this.#watchers.keys()]) {
        await this.#request("resources/subscribe", { uri }, direct, false, link).catch((error) => {
          if (!isFinal(error)) throw error;
          this.#forget(uri, error);
        });
      }
      if (lost) throw lost;
      this.server = hello;
    } catch (error) {
      void link?.close();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
    this.#link = link;
    this.#held = true; // as every link begins
    this.#last = undefined;
    const queue = this.#queue;
    this.#queue = new Set();
    for (const call of queue) this.#dispatch(call);
    if (again) for (const uri of this.#watchers.keys()) this.#tell({ uri, reconnected: true });
    this.#balance();
  }

  #giveUp(error: unknown): void {
    for (const call of [...this.#queue]) this.#settle(call).reject(error);
    for (const uri of [...this.#watchers.keys()]) this.#forget(uri, error);
  }

  /** Ends the subscriptions to a resource because of an error. */
  #forget(uri: string, error: unknown): void {
    const watchers = this.#watchers.get(uri) ?? [];
    this.#watchers.delete(uri);
    for (const watcher of watchers) guarded("onError", () => watcher.onError?.(error));
  }

  /** Keeps the process alive while there is something to wait for, and asks a silent server whether it is there. */
  #balance(): void {
    const link = this.#link;
    if (link === undefined) return;
    const held = this.#sent.size > 0 || this.#watchers.size > 0;
    if (held !== this.#held) {
      this.#held = held;
      link.hold?.(held);
    }
    link.listen?.(this.#watchers.size > 0);
    const watched = this.#watchers.size > 0 && link.listen === undefined;
    if (watched && this.#pulse === undefined) {
      this.#pulse = setInterval(() => void this.#ping(link), PULSE);
    } else if (!watched && this.#pulse !== undefined) {
      clearInterval(this.#pulse);
      this.#pulse = undefined;
    }
  }

  async #ping(link: Link): Promise<void> {
    try {
      await this.#request("ping", undefined, { timeout: PULSE }, false, link);
    } catch (error) {
      if (error instanceof CallTimeoutError && this.#link === link) {
        void link.close();
        this.#closed(link, new ConnectionFailedError(`${this.#transport.address} is silent`));
      }
    }
  }

  // ── hearing ──────────────────────────────────────────────────────────────────────────────────────────

  #message(message: Message): void {
    this.#heard++;
    if (message.method !== undefined) {
      if (message.id !== undefined && message.id !== null) this.#asked(message);
      else this.#hear(message.method, message.params);
      return;
    }
    const call = this.#sent.get(message.id as number);
    if (call === undefined) return; // withdrawn meanwhile
    if (message.error === undefined) {
      this.#settle(call).resolve(message.result);
      return;
    }
    const error = errorOf(message.error);
    if (error instanceof RateLimitedError && !call.direct) this.#later(call, error);
    else this.#settle(call).reject(error);
  }

  #asked(message: Message): void {
    const answer =
      message.method === "ping" ? { result: {} } : { error: { code: -32601, message: "Method not found" } };
    try {
      this.#link?.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }));
    } catch {
      // the link is about to be lost
    }
  }

  #hear(method: string, params: any): void {
    if (method === "notifications/progress") {
      const { progressToken, ...progress } = params;
      const call = this.#followed.get(progressToken);
      if (call) guarded("onProgress", () => call.onProgress!(progress));
    } else if (method === "notifications/resources/updated") {
      this.#tell({ uri: params.uri });
    }
    if (this.#told) guarded("onNotification", () => this.#told!(method, params));
  }

  #tell(update: ResourceUpdate): void {
    for (const watcher of this.#watchers.get(update.uri) ?? []) guarded("subscribe", () => watcher.callback(update));
  }

  // ── failing ──────────────────────────────────────────────────────────────────────────────────────────

  /** Sends a call again after a while: as long as the server says, where it does. */
  #later(call: Call, error: Error): void {
    let wait = backoff(call.attempts++);
    if (error instanceof RateLimitedError) {
      const { retryAfter } = error;
      wait = Math.max(wait, (retryAfter ?? 1) * 1000);
      if (retryAfter !== undefined && !this.#pause(call, error, wait)) return;
    }
    this.#sent.delete(call.id);
    call.id = 0;
    call.last = error;
    call.pause = setTimeout(() => this.#dispatch(call), Math.min(wait, LONGEST));
  }

  #failed(id: number, error: Error, reached: boolean): void {
    const call = this.#sent.get(id);
    if (call === undefined) return;
    if (call.direct || (isFinal(error) && !reached)) this.#settle(call).reject(error);
    else if (reached && !call.repeatable) this.#settle(call).reject(unknown(call, error));
    else this.#later(call, error);
  }

  #closed(link: Link, error: Error, unseen?: number): void {
    const current = link === this.#link;
    if (current) this.#lose();
    void link.close();
    const lost: Call[] = [];
    for (const call of [...this.#sent.values()]) {
      if (call.direct) {
        if (call.direct === link) this.#settle(call).reject(error);
      } else if (current && (call.repeatable || call.id === unseen)) {
        this.#sent.delete(call.id);
        call.id = 0;
        call.last = error;
        lost.push(call);
      } else if (current) {
        this.#settle(call).reject(unknown(call, error));
      }
    }
    if (!current || this.#ended.signal.aborted) return;
    this.#last = error;
    this.#queue = new Set([...lost, ...this.#queue]);
    if (this.#connecting === undefined && this.#isWanted) this.#reconnect();
  }

  #lose(): void {
    this.#link?.hold?.(false);
    this.#link = undefined;
    this.#held = false;
    clearInterval(this.#pulse);
    this.#pulse = undefined;
  }

  #reconnect(): void {
    this.#connecting = this.#connect().finally(() => {
      this.#connecting = undefined;
      if (this.#isWanted && !this.#link && !this.#ended.signal.aborted) this.#reconnect();
    });
  }
}

/** Whether no other attempt can end otherwise: the server answers, and refuses this client. */
function isFinal(error: unknown): boolean {
  if (error instanceof ConnectionFailedError) return error.final;
  return error instanceof MCPMemoryError && error.code < 500 && error.code !== 429 && error.code !== -32603;
}

function unknown(call: Call, cause: Error): ConnectionFailedError {
  const text = `The connection was lost; it is unknown whether ${call.what} was done${why(cause)}`;
  return new ConnectionFailedError(text, { cause, suggestions: ["Look whether it was done before calling again"] });
}

function timedOut(message: string, seconds: number): CallTimeoutError {
  const suggestions = ["Call again with a longer timeout"];
  return new CallTimeoutError(message, 504, { error_type: "timeout", details: { timeout: seconds }, suggestions });
}

/** Throws where a timeout is not a number of milliseconds. */
export function checkTimeout(timeout: number): void {
  if (typeof timeout !== "number" || !(timeout >= 0))
    throw new RangeError("timeout must be a number of milliseconds, 0 or more; Infinity waits any time");
}

function why(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : "";
  return text ? `: ${text}` : "";
}

/** A callback of the caller: what it throws, or rejects with, is reported and breaks nothing here. */
function guarded(name: string, callback: () => unknown): void {
  const report = (error: unknown) => console.error(`A callback of MCPMemoryClient (${name}) failed:`, error);
  try {
    const made: any = callback();
    if (typeof made?.then === "function") made.then(undefined, report);
  } catch (error) {
    report(error);
  }
}
