/** The shapes of docs/contracts/api.md. */

export type Counted = readonly [name: string, count: number];

export interface Title {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
}

export interface Author {
  readonly who: string;
  readonly account: string | null;
  readonly client: string | null;
  readonly dialect: string | null;
  readonly tool: string | null;
}

export interface Observation {
  readonly text: string;
  readonly length: number;
  readonly cut: boolean;
}

export interface Memory {
  readonly project: string;
  readonly id: string;
  readonly name: string | null;
  readonly title: string;
  readonly kind: string;
  readonly scope: string;
  readonly session: string | null;
  readonly tags: readonly string[];
  readonly category: string | null;
  readonly summary: string | null;
  readonly content_type: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created: string;
  readonly updated: string;
  readonly version: number;
  readonly observations: readonly Observation[];
  readonly superseded_by: Title | null;
}

export interface Change extends Author {
  readonly project: string;
  readonly change: number;
  readonly at: string;
  readonly action: string;
  readonly background: boolean;
  readonly undoes: number | null;
  readonly undone_by: number | null;
}

export interface Effect {
  readonly how: "made" | "changed" | "deleted" | "restored";
  readonly id: string | null;
  readonly title: string | null;
  readonly kind: string | null;
}

/** What a change did to a relation; an end that names no memory has no id. */
export interface RelationEffect {
  readonly how: "made" | "deleted" | "restored";
  readonly from: RelationEnd;
  readonly to: RelationEnd;
  readonly type: string;
  /** Drawn by the server. */
  readonly automatic: boolean;
}

export interface RelationEnd {
  readonly id: string | null;
  readonly title: string;
  readonly kind: string | null;
}

/** The first few relations a change touched, those that somebody made first; how many in all, and how many the server drew. */
export interface Related {
  readonly relations: readonly RelationEffect[];
  readonly relations_total: number;
  readonly relations_automatic: number;
}

export interface Note {
  readonly code: string;
  readonly text: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface Written {
  readonly changes: readonly number[];
}

export interface About {
  readonly name: string;
  readonly version: string;
  readonly user: string | null;
  readonly projects: readonly string[];
  readonly project: string | null;
  readonly access: { readonly write: boolean; readonly manage: boolean; readonly all_projects: boolean; readonly key: boolean };
  readonly formats: { readonly export: readonly string[]; readonly import: readonly string[] };
  readonly limits: Readonly<Record<string, number>>;
}

export interface Part {
  readonly text: string;
  readonly match: boolean;
}

export interface Why {
  readonly exact: string | null;
  readonly place: string | null;
  readonly terms: readonly string[];
  readonly missing: readonly string[];
  readonly alike: readonly unknown[];
  readonly complete: boolean;
  readonly words: number | null;
  readonly meaning: number | null;
  readonly similarity: number | null;
  readonly date: boolean;
  readonly time: string | null;
  readonly mentions_time: boolean;
  readonly judged: number | null;
}

export interface Hit {
  readonly project: string;
  readonly id: string;
  readonly name: string | null;
  readonly title: string;
  readonly kind: string;
  readonly scope: string;
  readonly tags: readonly string[];
  readonly created: string;
  readonly updated: string;
  readonly version: number;
  readonly score: number | null;
  readonly fragments: readonly { readonly observation: number | null; readonly parts: readonly Part[] }[];
  readonly why: Why | null;
  readonly reason: string | null;
  readonly stored: (Author & { readonly change: number; readonly at: string }) | null;
  readonly superseded_by: Title | null;
}

export interface Found {
  readonly total: number;
  readonly next: string | null;
  readonly pending: number;
  readonly milliseconds: number;
  readonly projects: Readonly<Record<string, number>>;
  readonly left_out: readonly string[];
  readonly notes: readonly Note[];
  readonly facets: Partial<Record<"project" | "kind" | "tags" | "scope" | "month", readonly Counted[]>> | null;
  readonly hits: readonly Hit[];
}

export interface Relation {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly direction: "in" | "out";
  readonly strength: number | null;
  readonly context: string | null;
  readonly origin: string;
  readonly created: string;
  readonly other: Title | null;
}

export interface OneMemory {
  readonly memory: Memory;
  readonly stored: Change | null;
  readonly deleted: Change | null;
  readonly relations: readonly Relation[];
  readonly relations_total: number;
  readonly supersedes: readonly Title[];
}

export interface Version {
  readonly change: Change;
  readonly memory: Memory;
  readonly current: boolean;
  readonly differs: readonly string[];
}

export interface TimelineItem extends Change, Related {
  readonly effects: readonly Effect[];
  readonly total: number;
}

export interface Timeline {
  readonly changes: readonly TimelineItem[];
  readonly next: string | null;
  readonly clients: readonly string[];
  readonly tools: readonly string[];
  readonly people: readonly string[];
}

export interface Told extends Related {
  readonly project: string;
  readonly change: Change;
  readonly effects: readonly Effect[];
  readonly total: number;
}

export interface BeforeAfter {
  readonly how: string;
  readonly before: Memory | null;
  readonly after: Memory | null;
}

export interface OneChange extends Related {
  readonly change: Change;
  readonly effects: readonly BeforeAfter[];
  readonly total: number;
  readonly next: string | null;
}

export interface UndoPreview {
  readonly project: string;
  readonly changes: readonly number[];
  readonly final: readonly number[];
  readonly steps: readonly ({ readonly change: Change; readonly effects: readonly BeforeAfter[]; readonly total: number } & Related)[];
}

export interface Compared {
  readonly from: string;
  readonly to: string;
  readonly changes: number;
  readonly made: readonly Memory[];
  readonly deleted: readonly Memory[];
  readonly changed: readonly { readonly before: Memory; readonly after: Memory }[];
  readonly total: number;
  readonly cut: boolean;
}

export interface GraphNode {
  readonly id: string | null;
  readonly name: string | null;
  readonly title: string;
  /** Null, as is its scope, where nothing is stored under its name. */
  readonly kind: string | null;
  readonly scope: string | null;
  readonly degree: number;
  readonly community: number | null;
  readonly missing: boolean;
}

export type GraphEdge = readonly [source: number, target: number, type: number, strength: number | null, automatic: boolean];

export interface GraphAnswer {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly types: readonly Counted[];
  readonly communities: readonly { readonly community: number; readonly size: number }[];
  readonly memories: number;
  readonly relations: number;
  readonly cut: boolean;
}

export type ReviewKind = "conflicts" | "duplicates" | "questions" | "stale";
export type Step = Readonly<Record<string, unknown>> & { readonly do: string };

export interface Resolution {
  readonly name: string;
  readonly keeps: number | null;
  readonly steps: readonly Step[];
}

export interface ReviewItem {
  readonly item: string;
  readonly confidence: number | null;
  readonly why: Note;
  readonly dismissed: boolean;
  readonly sides: readonly { readonly memory: Memory; readonly quote: string | null; readonly at: string; readonly newer: boolean }[];
  readonly resolutions: readonly Resolution[];
}

export interface ReviewAnswer {
  readonly kind: ReviewKind;
  readonly total: number;
  readonly next: string | null;
  readonly at: string | null;
  readonly notes: readonly Note[];
  readonly items: readonly ReviewItem[];
}

export interface ScopeCount {
  readonly path: string;
  readonly memories: number;
  readonly total: number;
  readonly children: readonly string[];
}

export interface ProjectTree {
  readonly project: string;
  readonly memories: number;
  readonly relations: number;
  readonly scopes: readonly ScopeCount[];
  readonly kinds: readonly Counted[];
}

export interface Imported extends Written {
  readonly form: string;
  readonly imported: Readonly<Record<string, unknown>>;
  readonly problems: readonly unknown[];
  readonly examples: readonly Effect[];
}

export interface Health {
  readonly status: string;
  readonly version: string;
  /** Its size is that of all projects, and told to who may see all of them. */
  readonly store: { readonly kind: string; readonly bytes?: number | null; readonly format?: number | null; readonly path?: string | null };
  readonly projects: readonly {
    readonly project: string;
    readonly memories: number;
    readonly relations: number;
    readonly vectors: Readonly<Record<string, number>>;
    readonly pending: number | null;
  }[];
  readonly clients: readonly { readonly client: string; readonly who: string; readonly project: string; readonly last: string; readonly changes: number }[];
  readonly server: Readonly<Record<string, string | number | null>>;
  readonly limits: Readonly<Record<string, number | null>>;
}

export type Access = "read" | "write" | "manage" | "metrics";

export interface KeyInfo {
  readonly id: string;
  readonly name: string;
  readonly projects: readonly string[] | null;
  readonly access: Access;
  readonly created: string;
  readonly current: boolean;
}
