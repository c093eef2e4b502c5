/// <reference lib="esnext.disposable" preserve="true" />
import { Connection, checkTimeout, type CallOptions, type ResourceUpdate, type Subscription } from "./connection.js";
import { ConnectionFailedError, ToolError } from "./errors.js";
import { MAX_TOKENS_META, Operations, REQUEST_IDS, REQUEST_ID_META, VERSION } from "./generated/operations.js";
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
  /** The key, as `polymnia keys add` prints it. Surrounding whitespace is dropped. */
  apiKey?: string;
  /**
   * Milliseconds a call may take with all its retries, not counting pauses the server asks for; `Infinity`: any time.
   * Default: 30,000.
   */
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
    const { timeout = 30_000, clientInfo = { name: "@polymnia/client", version: VERSION } } = given;
    checkTimeout(timeout);
    this.#connection = new Connection(transport(given), timeout, clientInfo, given.onNotification);
  }

  /** Calls a tool and answers what it answered: structured content, else JSON, else text. Refusals are thrown. */
  async call(tool: string, parameters: Record<string, any> = {}, options?: CallOptions): Promise<any> {
    const result = await this.callTool(tool, parameters, options);
    const answer = read(result);
    if (typeof answer === "object" && answer !== null) results.set(answer, result);
    return answer;
  }

  /**
   * Calls a tool and answers the result as the protocol has it. Refusals are thrown, unless `raw` asks for the results
   * that say `isError` too.
   */
  async callTool(
    tool: string,
    parameters: Record<string, any> = {},
    options: CallOptions & { raw?: boolean } = {},
  ): Promise<ToolResult> {
    const place = REQUEST_IDS[tool]?.[parameters["operation"] ?? ""];
    const meta: Record<string, any> = { [MAX_TOKENS_META]: 0 };
    const params: Record<string, any> = { name: tool, arguments: parameters, _meta: meta };
    if (place === "meta") {
      meta[REQUEST_ID_META] = this.#requestId();
    } else if (place === "argument" && parameters["request_id"] === undefined) {
      params["arguments"] = { ...parameters, request_id: this.#requestId() };
    }
    const result: ToolResult = await this.#connection.request("tools/call", params, options, place !== undefined);
    if (!result.isError || options.raw) return result;
    const answer = read(result);
    const told = typeof answer === "object" && !Array.isArray(answer) ? answer : undefined;
    const whole = result.content.map((part) => part.text ?? "").join("\n");
    throw new ToolError(typeof told?.message === "string" ? told.message : whole, 0, told ?? undefined);
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

  /** The text of a resource, such as `memory://knowledge-graph` (JSON); what is no text comes in base64. */
  async readResource(uri: string, options?: CallOptions): Promise<string> {
    const { contents } = await this.request("resources/read", { uri }, options);
    return contents[0]?.text ?? contents[0]?.blob ?? "";
  }

  /**
   * Hears of changes to an entity of the graph (its name) or to any resource (its address), whoever makes them, until
   * it is ended. Nothing is ever heard of other names, such as an id that `storeContent` answered.
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

const SCHEMES = "ws://, wss://, http://, https:// or stdio:";

function transport(given: ClientOptions): Transport {
  const { endpoint = "ws://127.0.0.1:9080/ws" } = given;
  if (Array.isArray(endpoint)) return started(endpoint, given);
  if (typeof endpoint === "object" && endpoint !== null && "open" in endpoint) return endpoint;
  if (typeof endpoint !== "string" && !(endpoint instanceof URL)) {
    throw new TypeError(`endpoint must be an address (${SCHEMES}), a command as an array, or a Transport`);
  }
  const address = String(endpoint).trim();
  const scheme = /^[a-z]+(?=:|$)/i.exec(address)?.[0].toLowerCase();
  if (scheme === "stdio") return started(words(address.slice("stdio:".length).replace(/^\/\//, "")), given);
  if (!/^(ws|http)s?$/.test(scheme ?? "")) throw malformed(address, `it begins with none of ${SCHEMES}`);
  if (!/^[a-z]+:\/\/[^/?#:]/i.test(address)) throw malformed(address, "it names no host");
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw malformed(address, "it names a host or a port that cannot exist");
  }
  if (url.username || url.password) throw malformed(address, "it contains a user name or a password; use headers");
  url.hash = "";
  const isHttp = url.protocol.startsWith("http");
  return new (isHttp ? HttpTransport : WebSocketTransport)(url.href, headersOf(given));
}

function malformed(address: string, why: string): ConnectionFailedError {
  const suggestions = ["Use an address like ws://localhost:9080/ws or http://localhost:9080/mcp, or stdio:"];
  const shown = address.replace(/\/\/.*@/, "//"); // what is before the @ may be a secret
  return new ConnectionFailedError(`The endpoint "${shown}" is malformed: ${why}`, { final: true, suggestions });
}

/** What is sent with every request. Throws where a header cannot carry it; the values are secrets, and not quoted. */
function headersOf({ apiKey, headers }: ClientOptions): Record<string, string> {
  const all: Record<string, string> = { ...headers };
  for (const [name, value] of Object.entries(all)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new TypeError(`headers: no HTTP request can carry the header ${JSON.stringify(name)}`);
    }
  }
  const key = apiKey?.trim();
  if (!key) return all;
  if (!/^[\x20-\x7e]*$/.test(key)) {
    throw new TypeError("apiKey contains a character that no HTTP header can carry: it must be plain ASCII");
  }
  return { ...all, Authorization: `Bearer ${key}` };
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
  if (first?.type !== "text") return result.content;
  try {
    return JSON.parse(first.text!); // a text that follows is a remark on it
  } catch {
    return second === undefined ? first.text : result.content;
  }
}
