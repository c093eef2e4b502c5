import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Problem } from "../api/client";
import { Shared } from "../choices";
import { t, type Key } from "../words";
import { Icon, type IconName } from "./icons";
import { Piece, plain } from "./stored";

/** What a click begins is done once: further clicks wait until its promise is kept. */
export function Button(given: {
  children?: ComponentChildren;
  icon?: IconName;
  label?: string;
  kind?: "plain" | "main" | "quiet" | "danger";
  disabled?: boolean;
  busy?: boolean;
  pressed?: boolean;
  expanded?: boolean;
  submit?: boolean;
  title?: string;
  onClick?: (event: MouseEvent) => unknown;
}): JSX.Element {
  const { children, icon, label, kind = "plain", disabled, busy, pressed, expanded, submit, title, onClick } = given;
  const running = useRef(false);
  const clicked = async (event: MouseEvent) => {
    if (running.current) return;
    running.current = true;
    try {
      await onClick?.(event);
    } finally {
      running.current = false;
    }
  };
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button ${kind}${children ? "" : " square"}`}
      aria-label={label && plain(label)}
      title={title ?? (children || !label ? undefined : plain(label))}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      onClick={onClick && clicked}
    >
      {icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </button>
  );
}

export function Skeleton({ lines = 4 }: { lines?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={t("state.loading")}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="skeleton-card">
          <i class="short" />
          <i />
          <i class="half" />
        </div>
      ))}
    </div>
  );
}

export function Empty(given: { icon: IconName; title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={given.icon} size={28} />
      </span>
      <h2>{given.title}</h2>
      {given.children && <div class="empty-words">{given.children}</div>}
    </div>
  );
}

/** What went wrong, in the reader's language where the page knows it, else in the server's words. */
function problemWords(problem: unknown): string {
  if (problem instanceof Problem && problem.offline) return t("error.offline");
  if (problem instanceof Problem && problem.wait !== null) return `${t("error.busy")} ${t("error.busy.help", { n: problem.wait })}`;
  return problem instanceof Error ? problem.message : String(problem);
}

/** The same with what can be done. */
export function Failed({ problem, again }: { problem: unknown; again?: () => void }): JSX.Element {
  const known = problem instanceof Problem ? problem : null;
  const title: Key = known?.status === 403 ? "error.rights" : known?.status === 404 ? "error.absent" : known?.offline ? "error.offline" : known && known.wait !== null ? "error.busy" : "error.failed";
  return (
    <div class="empty failed" role="alert">
      <span class="empty-icon">
        <Icon name="warn" size={28} />
      </span>
      <h2>{t(title)}</h2>
      <div class="empty-words">
        <p>{known?.offline ? t("error.offline.help") : known && known.wait !== null ? t("error.busy.help", { n: known.wait }) : problemWords(problem)}</p>
        {known?.wait === null && known.hints.map((hint) => <p key={hint}>{hint}</p>)}
        {again && (
          <Button icon="refresh" onClick={again}>
            {t("action.again")}
          </Button>
        )}
      </div>
    </div>
  );
}

export function Field(given: { label: string; help?: string; children: (id: string) => ComponentChildren }): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{given.label}</label>
      {given.children(id)}
      {given.help && <small>{given.help}</small>}
    </div>
  );
}

export function Select<T extends string>(given: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
  hideLabel?: boolean;
  /** Its label stands beside it, not above. */
  beside?: boolean;
}): JSX.Element {
  const id = useId();
  return (
    <div class={given.beside ? "field beside" : "field"}>
      <label for={id} class={given.hideLabel ? "unseen" : undefined}>
        {given.label}
      </label>
      <select id={id} value={given.value} onChange={(event) => given.onChange(event.currentTarget.value as T)}>
        {given.options.map(([value, words]) => (
          <option key={value} value={value}>
            {plain(words)}
          </option>
        ))}
      </select>
    </div>
  );
}

/**
 * A dialog of the browser: focus stays in it, Escape closes it, and focus goes back where it came from. Where something
 * was `typed`, neither Escape nor a click beside it throws that away.
 */
export function Dialog(given: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean; typed?: boolean }): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const leave = () => (given.typed ? say(t("edit.unsaved")) : given.onClose());
  // Before the next key is pressed: it belongs to the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close(); // while it is open nothing outside of it can have the focus
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={given.wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClick={(event) => event.target === ref.current && leave()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}><Piece text={given.title} /></h2>
          <Button icon="close" kind="quiet" label={t("action.close")} onClick={given.onClose} />
        </header>
        {given.children}
      </div>
      <Notes />
    </dialog>
  );
}

/** Tabs by the pattern of ARIA: arrows choose, one stop of the Tab key. */
export function Tabs<T extends string>(given: {
  label: string;
  value: T;
  tabs: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}): JSX.Element {
  const step = (event: KeyboardEvent, by: number) => {
    const index = given.tabs.findIndex(([value]) => value === given.value);
    const next = given.tabs[(index + by + given.tabs.length) % given.tabs.length];
    if (!next) return;
    event.preventDefault();
    given.onChange(next[0]);
    const list = (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]");
    list[given.tabs.indexOf(next)]?.focus();
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={given.label}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight") step(event, 1);
        if (event.key === "ArrowLeft") step(event, -1);
      }}
    >
      {given.tabs.map(([value, words]) => (
        <button
          key={value}
          type="button"
          role="tab"
          aria-selected={value === given.value}
          tabIndex={value === given.value ? 0 : -1}
          onClick={() => given.onChange(value)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

export function Chip(given: { children: ComponentChildren; kind?: string; onRemove?: () => void; removeLabel?: string }): JSX.Element {
  return (
    <span class={`chip ${given.kind ?? ""}`}>
      {given.children}
      {given.onRemove && (
        <button type="button" aria-label={given.removeLabel} onClick={given.onRemove}>
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}

/** Words that say what happened, for everyone to see and hear, with the way back where there is one. */
interface Note {
  readonly id: number;
  readonly words: string;
  readonly bad: boolean;
  readonly undo: (() => Promise<void>) | undefined;
}

let counted = 0;
const told = new Shared<readonly Note[]>([]);

function tell(note: Note): void {
  const others = told.value.filter((one) => one.undo || one.words !== note.words); // said twice it is no clearer
  told.set([...others.slice(-2), note]);
  setTimeout(() => drop(note.id), note.undo || note.bad ? 20_000 : 5_000);
}

function drop(id: number): void {
  told.set(told.value.filter((one) => one.id !== id));
}

export function say(words: string, undo?: () => Promise<void>): void {
  tell({ id: ++counted, words, bad: false, undo });
}

export function complain(problem: unknown): void {
  const advice = problem instanceof Problem && problem.wait === null ? problem.hints : [];
  tell({ id: ++counted, words: [problemWords(problem), ...advice].join(". ").replaceAll(/([.!?])\. /g, "$1 "), bad: true, undo: undefined });
}

/** Copies a text. Where a page came without TLS from another machine, the browser has no clipboard for it, but copies a selection. */
export async function copy(text: string, done: string): Promise<void> {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else if (!copySelected(text)) throw new Error(t("action.copy.refused"));
    say(done);
  } catch (why) {
    complain(why);
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  (document.querySelector("dialog[open] .dialog-body") ?? document.body).append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

/** Also in every dialog: what is outside of an open one can be neither read nor pressed. */
export function Notes(): JSX.Element {
  const notes = told.use();
  return (
    <div class="notes" role="status" aria-live="polite">
      {notes.map((note) => (
        <div key={note.id} class={note.bad ? "note bad" : "note"}>
          <Icon name={note.bad ? "warn" : "check"} />
          <span><Piece text={note.words} /></span>
          {note.undo && (
            <button
              type="button"
              onClick={() => {
                drop(note.id);
                note.undo?.().catch((why) => {
                  if (why instanceof Problem && (why.offline || why.wait !== null)) tell({ ...note, id: ++counted }); // the way back is still there
                  complain(why);
                });
              }}
            >
              {t("action.undo")}
            </button>
          )}
          <button type="button" aria-label={t("action.close")} onClick={() => drop(note.id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
