/// <reference lib="esnext.disposable" preserve="true" />
import { Connection, type CallOptions, type ResourceUpdate, type Subscription } from "./connection.js";
import { ConnectionFailedError, ToolError } from "./errors.js";
import { Operations, REQUEST_IDS, REQUEST_ID_META, VERSION } from "./generated/operations.js";
import { HttpTransport } from "./http.js";
import { platform } from "./platform.js";
import type { Transport } from "./transport.js";
import { WebSocketTransport } from "./websocket.js";

/** How a client reaches its server. */
export interface ClientOptions {
  /**
   * Where the server is: `ws://`, `wss://`, `http://` or `https://`; `stdio:` and a command (or the command as an
   * array) to start one, `stdio:` alone for `polymnia stdio`. Default: `ws://127.0.0.1:9080/ws`.
   */
  endpoint?: string | URL | readonly string[] | Transport;
  /** The key, as `polymnia keys add` prints it. */
  apiKey?: string;
  /** Milliseconds a call may take with all its retries; 0: any time. Default: 60,000. */
  timeout?: number;
  /** Sent with every request, or when a WebSocket is opened. */
  headers?: Record<string, string>;
  /** Who the history of the server says made a change. */
  clientInfo?: { name: string; version: string };
  /** Hears every notification of the server. */
  onNotification?: (method: string, params: any) => void;
  /** Variables of a server that is started, beside those of this process. */
  env?: Record<string, string | undefined>;
  /** The folder a server is started in. */
  cwd?: string;
}

/** What a tool answered, as the protocol has it. */
export interface ToolResult {
  content: { type: string; text?: string; [key: string]: any }[];
  structuredContent?: any;
  isError?: boolean;
  _meta?: Record<string, any>;
  [key: string]: any;
}

const results = new WeakMap<object, ToolResult>();

/** The result of the protocol that an answer was read from; undefined for an answer that is a plain text. */
export function resultOf(answer: unknown): ToolResult | undefined {
  return typeof answer === "object" && answer !== null ? results.get(answer) : undefined;
}

/**
 * A client of a Polymnia server, for any number of calls at once. It connects when it is first used, and again whenever
 * the connection is lost.
 */
export class MCPMemoryClient extends Operations {
  readonly #connection: Connection;
  readonly #name = Array.from(crypto.getRandomValues(new Uint32Array(3)), hexadecimal).join("");
  #written = 0;

  constructor(options: ClientOptions | string = {}) {
    super();
    const given = typeof options === "string" ? { endpoint: options } : options;
    const info = given.clientInfo ?? { name: "@polymnia/client", version: VERSION };
    this.#connection = new Connection(transport(given), given.timeout ?? 60_000, info, given.onNotification);
  }

  /** Calls a tool and answers what it answered: structured content, else JSON, else text. Refusals are thrown. */
  async call(tool: string, parameters: Record<string, any> = {}, options?: CallOptions): Promise<any> {
    const result = await this.callTool(tool, parameters, options);
    const answer = read(result);
    if (result.isError) {
      const told = typeof answer === "object" && !Array.isArray(answer) ? answer : undefined;
      const whole = result.content.map((part) => part.text ?? "").join("\n");
      throw new ToolError(typeof told?.message === "string" ? told.message : whole, 0, told ?? undefined);
    }
    if (typeof answer === "object" && answer !== null) results.set(answer, result);
    return answer;
  }

  /** Calls a tool and answers the result as the protocol has it, one that says `isError` too. */
  callTool(tool: string, parameters: Record<string, any> = {}, options?: CallOptions): Promise<ToolResult> {
    const place = REQUEST_IDS[tool]?.[parameters["operation"] ?? ""];
    const params: Record<string, any> = { name: tool, arguments: parameters };
    if (place === "meta") {
      params["_meta"] = { [REQUEST_ID_META]: this.#requestId() };
    } else if (place === "argument" && parameters["request_id"] === undefined) {
      params["arguments"] = { ...parameters, request_id: this.#requestId() };
    }
    return this.#connection.request("tools/call", params, options, place !== undefined);
  }

  /** Any request of the protocol that may be sent twice. */
  request(method: string, params?: Record<string, any>, options?: CallOptions): Promise<any> {
    return this.#connection.request(method, params, options);
  }

  /** Asks the server whether it is there. */
  async ping(options?: CallOptions): Promise<void> {
    await this.request("ping", undefined, options);
  }

  /** The tools of the server, as it describes them. */
  async listTools(options?: CallOptions): Promise<any[]> {
    return (await this.request("tools/list", {}, options)).tools;
  }

  /** Reads a resource, such as `memory://knowledge-graph`. JSON is parsed. */
  async readResource(uri: string, options?: CallOptions): Promise<any> {
    const { contents } = await this.request("resources/read", { uri }, options);
    const [{ mimeType, text, blob }] = contents;
    return text === undefined ? blob : mimeType === "application/json" ? JSON.parse(text) : text;
  }

  /**
   * Hears of changes to a memory (its name) or to any resource (its address), whoever makes them, until it is ended.
   * After a lost connection the callback is called once with `reconnected`, because a change may have been missed.
   * `onError` hears why it ended, where the server no longer lets this client in.
   */
  subscribe(
    memory: string,
    callback: (update: ResourceUpdate) => void,
    options?: CallOptions & { onError?: (error: unknown) => void },
  ): Promise<Subscription> {
    const uri = memory.startsWith("memory://") ? memory : `memory://memory/${encodeURIComponent(memory)}`;
    return this.#connection.subscribe(uri, callback, options);
  }

  /** Ends the connection, and with an error whatever is under way. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requestId(): string {
    return this.#name + hexadecimal(++this.#written);
  }
}

function transport(given: ClientOptions): Transport {
  const { endpoint = "ws://127.0.0.1:9080/ws" } = given;
  if (Array.isArray(endpoint)) return started(endpoint, given);
  if (typeof endpoint === "object" && "open" in endpoint) return endpoint;
  const address = String(endpoint);
  const headers: Record<string, string> = { ...given.headers };
  if (given.apiKey !== undefined) headers["Authorization"] = `Bearer ${given.apiKey}`;
  const scheme = /^[a-z]+(?=:|$)/i.exec(address)?.[0].toLowerCase();
  if (scheme === "ws" || scheme === "wss") return new WebSocketTransport(address, headers);
  if (scheme === "http" || scheme === "https") return new HttpTransport(address, headers);
  if (scheme === "stdio") return started(words(address.slice("stdio:".length).replace(/^\/\//, "")), given);
  throw new ConnectionFailedError(`The endpoint ${address} has none of the schemes ws, wss, http, https and stdio`, {
    final: true,
  });
}

/** A server that is started when it is first needed; only then is it known whether this runtime can. */
function started(command: readonly string[], given: ClientOptions): Transport {
  const line = command.length ? command : ["polymnia", "stdio"];
  return {
    address: line.join(" "),
    open: async (events, signal) =>
      (await platform.stdio(line, { env: given.env, cwd: given.cwd })).open(events, signal),
  };
}

/** The words of a command line; quotes hold a word together. */
function words(line: string): string[] {
  return Array.from(line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g), ([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single),
  );
}

function hexadecimal(number: number): string {
  return number.toString(16).padStart(8, "0");
}

function read(result: ToolResult): any {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const [first, second] = result.content;
  if (first?.type !== "text" || second !== undefined) return result.content;
  try {
    return JSON.parse(first.text!);
  } catch {
    return first.text;
  }
}
