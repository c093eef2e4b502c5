import { ConnectionFailedError, MCPMemoryError, RateLimitedError, CallTimeoutError, errorOf } from "./errors.js";
import type { Link, LinkEvents, Message, Transport } from "./transport.js";
import { backoff, sleep } from "./waiting.js";

const VERSION = "2025-11-25";
const HANDSHAKE = 30_000; // milliseconds for a connection to open and be greeted
const PULSE = 30_000; // milliseconds between two pings of a connection that has nothing but subscriptions

/** How far a call is. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** What any call may be given. */
export interface CallOptions {
  /** Milliseconds until the call is withdrawn; 0: never. */
  timeout?: number;
  /** Withdraws the call. */
  signal?: AbortSignal;
  /** Hears how far a long call is. */
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
  readonly params: Record<string, any> | undefined;
  readonly resolve: (result: any) => void;
  readonly reject: (error: unknown) => void;
  readonly repeatable: boolean;
  readonly deadline: number;
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
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
  readonly #watchers = new Map<string, Set<Watcher>>();
  #queue = new Set<Call>(); // what waits for a connection
  #link: Link | undefined;
  #connecting: Promise<void> | undefined;
  #ended = new AbortController();
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
      const limited = timeout > 0 && timeout < 2 ** 31;
      const call: Call = {
        method,
        params,
        resolve,
        reject,
        repeatable,
        deadline: limited ? performance.now() + timeout : Infinity,
        timeout,
        signal,
        onProgress,
        direct,
        timer: undefined,
        pause: undefined,
        withdraw: undefined,
        id: 0,
        heard: 0,
        attempts: 0,
        last: undefined,
      };
      if (limited) call.timer = setTimeout(() => this.#expire(call), timeout);
      if (signal) {
        call.withdraw = () => this.#withdraw(call, "the caller withdrew the call", signal.reason);
        signal.addEventListener("abort", call.withdraw, { once: true });
      }
      this.#calls.add(call);
      this.#dispatch(call);
    });
  }

  /** Whether there is something to connect for. */
  get #isWanted(): boolean {
    return this.#queue.size > 0 || this.#watchers.size > 0;
  }

  #dispatch(call: Call): void {
    const link = call.direct ?? this.#link;
    if (link === undefined) {
      this.#queue.add(call);
      if (this.#connecting === undefined) this.#reconnect();
      return;
    }
    const id = (call.id = this.#next++);
    call.heard = this.#heard;
    let params = call.params;
    if (call.onProgress) params = { ...params, _meta: { ...params?._meta, progressToken: id } };
    this.#sent.set(id, call);
    if (!this.#held) this.#balance();
    try {
      link.send(JSON.stringify({ jsonrpc: "2.0", id, method: call.method, params }), id);
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
    if (call.withdraw) call.signal!.removeEventListener("abort", call.withdraw);
    if (this.#sent.size === 0) this.#balance();
    return call;
  }

  #withdraw(call: Call, reason: string, error: unknown): void {
    const { id } = call;
    this.#settle(call).reject(error);
    if (id && call.method !== "initialize") this.#notify("notifications/cancelled", { requestId: id, reason });
  }

  #expire(call: Call): void {
    const silent = call.id !== 0 && call.heard === this.#heard;
    const seconds = call.timeout / 1000;
    let error: MCPMemoryError;
    if (call.id === 0) {
      const cause = this.#last ?? call.last;
      const text = `No connection to ${this.#transport.address} within ${seconds} s${why(cause)}`;
      error = cause instanceof RateLimitedError ? cause : new ConnectionFailedError(text, { cause });
    } else {
      error = new CallTimeoutError(`No answer to ${call.params?.name ?? call.method} within ${seconds} s`, 504, {
        error_type: "timeout",
        details: { timeout: seconds },
        suggestions: ["Call again with a longer timeout"],
      });
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
    for (let attempt = 0; !this.#ended.signal.aborted; attempt++) {
      if (!this.#isWanted) return;
      try {
        await this.#open(again);
        return;
      } catch (error) {
        this.#last = error;
        if (isFinal(error)) return this.#giveUp(error);
        const after = error instanceof RateLimitedError ? (error.retryAfter ?? 0) * 1000 : 0;
        for (const call of after ? [...this.#queue] : []) {
          if (performance.now() + after > call.deadline) this.#settle(call).reject(error); // it cannot wait so long
        }
        if (this.#isWanted) {
          await sleep(Math.max(after, backoff(attempt)), this.#ended.signal).catch(() => {});
        }
      }
    }
  }

  async #open(again: boolean): Promise<void> {
    const opening = new AbortController();
    const stop = () => opening.abort(this.#ended.signal.reason);
    const timer = setTimeout(() => opening.abort(new Error(`not open within ${HANDSHAKE / 1000} s`)), HANDSHAKE);
    this.#ended.signal.addEventListener("abort", stop, { once: true });
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
      this.#ended.signal.removeEventListener("abort", stop);
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
    for (const watcher of watchers) guarded(() => watcher.onError?.(error));
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
    if (error instanceof RateLimitedError && !call.direct) this.#later(call, error, (error.retryAfter ?? 1) * 1000);
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
      const call = this.#sent.get(progressToken);
      if (call?.onProgress) guarded(() => call.onProgress!(progress));
    } else if (method === "notifications/resources/updated") {
      this.#tell({ uri: params.uri });
    }
    if (this.#told) guarded(() => this.#told!(method, params));
  }

  #tell(update: ResourceUpdate): void {
    for (const watcher of this.#watchers.get(update.uri) ?? []) guarded(() => watcher.callback(update));
  }

  // ── failing ──────────────────────────────────────────────────────────────────────────────────────────

  /** Sends a call again after a while, unless its time is over before. */
  #later(call: Call, error: Error, wait: number): void {
    if (performance.now() + wait > call.deadline && error instanceof RateLimitedError) {
      this.#settle(call).reject(error);
      return;
    }
    this.#sent.delete(call.id);
    call.id = 0;
    call.last = error;
    call.pause = setTimeout(() => this.#dispatch(call), wait);
  }

  #failed(id: number, error: Error, reached: boolean): void {
    const call = this.#sent.get(id);
    if (call === undefined) return;
    if (call.direct || (reached && !call.repeatable))
      this.#settle(call).reject(call.direct ? error : unknown(call, error));
    else this.#later(call, error, backoff(call.attempts++));
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
  const what = call.params?.name ?? call.method;
  return new ConnectionFailedError(`The connection was lost; it is unknown whether ${what} was done${why(cause)}`, {
    cause,
  });
}

function why(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : "";
  return text ? `: ${text}` : "";
}

/** A callback of the caller: what it throws is reported, and breaks nothing here. */
function guarded(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    if (typeof reportError === "function") reportError(error);
    else
      queueMicrotask(() => {
        throw error;
      });
  }
}
