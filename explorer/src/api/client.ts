import { Shared } from "../choices";
import type * as T from "./types";

/** Everything the page asks of its server. Nothing here knows what a screen looks like. */

/** A refusal, in the server's words. */
export class Problem extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly details: Readonly<Record<string, unknown>>,
    /** What the server advises. */
    readonly hints: readonly string[] = [],
    /** Seconds to wait, where it was asked too often. */
    readonly wait: number | null = null,
  ) {
    super(message);
  }

  get offline(): boolean {
    return this.status === 0;
  }
}

const STORED = "polymnia.key";
const root = new URL("./api/", location.href.split("#")[0]);

/** True while the server wants a key that the page does not have, or refuses the one it has. */
export const locked = new Shared<"open" | "wanted" | "refused">("open");
export const about = new Shared<T.About | null>(null);

let memoryKey: string | null = null;

/** A key in the fragment (`#key=…`) is taken once and removed from the address, so no link or picture shows it. True where there was one. */
export function takeKey(): boolean {
  const [path = "", query] = location.hash.replace(/^#/, "").split("?", 2);
  const given = new URLSearchParams(query ?? (path.startsWith("/") ? "" : path));
  const key = given.get("key");
  if (key === null) return false;
  setKey(key);
  given.delete("key");
  const rest = given.toString();
  const kept = path.startsWith("/") ? `#${path}${rest ? `?${rest}` : ""}` : "";
  history.replaceState(null, "", location.pathname + location.search + kept);
  return true;
}

export function setKey(key: string | null): void {
  memoryKey = key;
  try {
    if (key === null) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, key);
  } catch {
    // kept until the page is left
  }
}

export function hasKey(): boolean {
  return currentKey() !== null;
}

function currentKey(): string | null {
  try {
    return sessionStorage.getItem(STORED) ?? memoryKey;
  } catch {
    return memoryKey;
  }
}

function headers(more: Record<string, string> = {}): Record<string, string> {
  const key = currentKey();
  return key === null ? more : { ...more, Authorization: `Bearer ${key}` };
}

/** What a header can carry: no server knows a key with anything else in it. */
const SENDABLE = /^[\x21-\x7e]*$/;

async function fetched(address: URL, init: RequestInit): Promise<Response> {
  let answer: Response;
  const key = currentKey();
  if (!SENDABLE.test(key ?? "")) {
    locked.set("refused");
    throw new Problem("The server does not know this key.", 401, "unauthorized", {});
  }
  try {
    answer = await fetch(address, { ...init, credentials: "omit", cache: "no-store", redirect: "error" });
  } catch (why) {
    throw unanswered(why);
  }
  if (answer.ok) return answer;
  // A late answer about the key before says nothing about this one.
  if (answer.status === 401 && key === currentKey()) locked.set(hasKey() ? "refused" : "wanted");
  throw await refusal(answer);
}

/** The body of an answer; one that breaks off is none. */
async function body<A>(read: Promise<A>): Promise<A> {
  try {
    return await read;
  } catch (why) {
    throw unanswered(why);
  }
}

function unanswered(why: unknown): unknown {
  return why instanceof DOMException && why.name === "AbortError" ? why : new Problem("The server does not answer.", 0, "offline", {});
}

async function refusal(answer: Response): Promise<Problem> {
  try {
    const { error } = (await answer.json()) as {
      error: { message: string; data?: { error_type?: string; details?: Record<string, unknown>; suggestions?: string[] } };
    };
    const wait = answer.status === 429 ? Number(answer.headers.get("Retry-After")) || 1 : null;
    return new Problem(error.message, answer.status, error.data?.error_type ?? "", error.data?.details ?? {}, error.data?.suggestions ?? [], wait);
  } catch {
    return new Problem(`${answer.status} ${answer.statusText}`, answer.status, "", {});
  }
}

async function call<A>(name: string, given: object = {}, signal?: AbortSignal): Promise<A> {
  const answer = await fetched(new URL(name, root), {
    method: "POST",
    headers: headers({ "Content-Type": "application/json" }),
    body: JSON.stringify(given),
    ...(signal ? { signal } : {}),
  });
  return body(answer.json() as Promise<A>);
}

type Project = { project?: string | undefined };
type Page = { limit?: number | undefined; cursor?: string | null | undefined };

export const api = {
  about: () => call<T.About>("about"),
  search: (
    given: Project &
      Page & {
        query: string;
        kinds?: string[];
        tags?: string[];
        scope?: string | undefined;
        since?: string | undefined;
        until?: string | undefined;
        effort?: "quick" | "balanced";
        sort?: "relevance" | "date";
        facets?: boolean;
      },
    signal?: AbortSignal,
  ) => call<T.Found>("search", given, signal),
  names: (prefix: string, project: string | undefined, signal?: AbortSignal) =>
    call<{ names: { project: string; id: string; name: string; kind: string }[] }>("names", { prefix, project, limit: 12 }, signal),
  memory: (id: string, project?: string, whole = false) => call<T.OneMemory>("memory", { id, project, whole }),
  versions: (id: string, project: string | undefined, cursor?: string | null) =>
    call<{ versions: T.Version[]; next: string | null }>("versions", { id, project, cursor }),
  restore: (id: string, change: number, project?: string) => call<{ memory: T.Memory } & T.Written>("restore", { id, change, project }),
  edit: (given: Project & { id: string; version?: number; observations?: string[]; kind?: string; tags?: string[]; scope?: string; superseded_by?: string }) =>
    call<{ memory: T.Memory } & T.Written>("edit", given),
  store: (given: Project & { text: string; name?: string | undefined; kind?: string | undefined; tags?: string[]; scope?: string | undefined }) =>
    call<{ memory: T.Memory; joined: boolean } & T.Written>("store", given),
  delete: (ids: string[], project?: string) => call<{ deleted: T.Title[]; relations: number } & T.Written>("delete", { ids, project }),
  relate: (given: Project & { from: string; to: string; type: string }) => call<T.Written>("relate", given),
  unrelate: (given: Project & { from: string; to: string; type: string }) => call<T.Written>("unrelate", given),
  move: (ids: string[], scope: string, project?: string) => call<{ moved: T.Title[] } & T.Written>("move", { ids, scope, project }),
  timeline: (
    given: Project & Page & { client?: string | undefined; tool?: string | undefined; since?: string | undefined; until?: string | undefined; background?: boolean },
    signal?: AbortSignal,
  ) => call<T.Timeline>("timeline", given, signal),
  change: (change: number, project: string, cursor?: string | null) => call<T.OneChange>("change", { change, project, cursor }),
  undoPreview: (given: Project & { change?: number; changes?: readonly number[]; since?: string; session?: string }) =>
    call<T.UndoPreview>("undo_preview", given),
  undo: (changes: readonly number[], project: string) => call<{ undone: { change: number; by: number }[] } & T.Written>("undo", { changes, project }),
  compare: (given: Project & { from: string; to?: string | undefined }) => call<T.Compared>("compare", given),
  graph: (given: Project & { id?: string | undefined; depth?: number; limit?: number; types?: string[]; choose?: "newest" | "connected"; automatic?: boolean }, signal?: AbortSignal) =>
    call<T.GraphAnswer>("graph", given, signal),
  review: (given: { kind: T.ReviewKind; project: string; deep?: boolean; dismissed?: boolean; cursor?: string | null }, signal?: AbortSignal) =>
    call<T.ReviewAnswer>("review", given, signal),
  resolve: (project: string, steps: readonly T.Step[]) => call<T.Written>("resolve", { project, steps }),
  dismiss: (project: string, item: string, dismissed: boolean) => call<{ item: string; dismissed: boolean }>("dismiss", { project, item, dismissed }),
  tree: (project?: string) => call<{ projects: T.ProjectTree[] }>("tree", { project }),
  moveScope: (project: string, from: string, to: string) => call<{ moved: number } & T.Written>("move_scope", { project, from, to }),
  importPreview: (given: Incoming, signal?: AbortSignal) => call<T.Imported>("import_preview", given, signal),
  import: (given: Incoming) => call<T.Imported>("import", given),
  health: () => call<T.Health>("health"),
  keys: () => call<{ keys: T.KeyInfo[]; needed: boolean }>("keys"),
  createKey: (given: { name: string; access: T.Access; projects?: string[] | undefined }) => call<{ key: T.KeyInfo; secret: string }>("create_key", given),
  revokeKey: (id: string) => call<{ revoked: T.KeyInfo }>("revoke_key", { id }),

  async export(given: { project: string; format: string; scope?: string | undefined }): Promise<{ name: string; file: Blob }> {
    const address = new URL("export", root);
    for (const [name, value] of Object.entries(given)) if (value) address.searchParams.set(name, value);
    const answer = await fetched(address, { headers: headers() });
    const told = answer.headers.get("Content-Disposition") ?? "";
    const exact = /filename\*=UTF-8''([^;]+)/.exec(told)?.[1];
    const name = exact ? decodeURIComponent(exact) : /filename="?([^";]+)"?/.exec(told)?.[1];
    return { name: name ?? `${given.project}.${given.format.split("-")[1] ?? "txt"}`, file: await body(answer.blob()) };
  },
};

export type Incoming = Project & { name: string; data: string; base64?: boolean; existing?: "merge" | "replace" | "keep" };

/** Changes as they happen. The stream is taken up again where it broke, later and later while nobody answers. */
export function follow(heard: (told: T.Told) => void, state: (live: boolean) => void): () => void {
  const stop = new AbortController();
  let last = "";
  let wait = 500;
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        const answer = await fetched(new URL("events", root), {
          headers: headers({ Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) }),
          signal: stop.signal,
        });
        wait = 500;
        state(true);
        for await (const event of events(answer.body!)) {
          if (event.id) last = event.id;
          if (event.name === "change") heard(JSON.parse(event.data) as T.Told);
        }
      } catch (why) {
        if (stop.signal.aborted || (why instanceof Problem && [401, 403, 404].includes(why.status))) break;
      }
      state(false);
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, 15_000);
    }
    state(false);
  };
  void run();
  return () => stop.abort();
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id: string; name: string; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let event = { id: "", name: "message", data: [] as string[] };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (event.data.length) yield { id: event.id, name: event.name, data: event.data.join("\n") };
        event = { id: "", name: "message", data: [] };
        continue;
      }
      const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (field === "id") event.id = text ?? "";
      else if (field === "event") event.name = text ?? "";
      else if (field === "data") event.data.push(text ?? "");
    }
  }
}
