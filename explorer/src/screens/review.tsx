import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { about, api } from "../api/client";
import type { Note, Resolution, ReviewItem, ReviewKind } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { go, href, type Route } from "../route";
import { Icon } from "../ui/icons";
import { Button, Chip, complain, Dialog, Empty, Failed, Field, say, Skeleton, Tabs } from "../ui/parts";
import { Name, Text } from "../ui/stored";
import { Ago } from "../ui/time";
import { sayDone } from "../writing";
import { t, type Key } from "../words";

const KINDS = ["conflicts", "duplicates", "questions", "stale"] as const satisfies readonly ReviewKind[];

export function ReviewScreen({ route, project }: { route: Route; project: string }): JSX.Element {
  const kind = KINDS.find((one) => one === route.given["kind"]) ?? "conflicts";
  const deep = route.given["deep"] === "1";
  const dismissed = route.given["dismissed"] === "1";
  useTitle(t("nav.review"));
  const asked = useAsked((signal) => api.review({ kind, project, deep, dismissed }, signal), [kind, project, deep, dismissed]);
  const [more, setMore] = useState<{ items: readonly ReviewItem[]; next: string | null } | null>(null);
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const shown = useRef(asked.value);
  shown.current = asked.value;
  useEffect(() => {
    setMore(null);
    setDone(new Set());
  }, [asked.value]);
  const set = (given: Record<string, string | null>) => go(href("review", { ...route.given, project, ...given }));
  const items = [...(asked.value?.items ?? []), ...(more?.items ?? [])].filter((one) => !done.has(one.item));
  const next = more ? more.next : asked.value?.next;
  return (
    <div class="review">
      <div class="title-row">
        <h1>{t("nav.review")}</h1>
        <Tabs label={t("nav.review")} value={kind} tabs={KINDS.map((one) => [one, t(`review.${one}`)] as const)} onChange={(value) => set({ kind: value, deep: null })} />
      </div>
      <div class="toolbar">
        <p class="muted">{t(`review.${kind}.help`)}</p>
        <span class="spread" />
        {kind === "conflicts" && (
          <label class="check"><input type="checkbox" checked={deep} onChange={() => set({ deep: deep ? null : "1" })} />{t("review.deep")}</label>
        )}
        <label class="check"><input type="checkbox" checked={dismissed} onChange={() => set({ dismissed: dismissed ? null : "1" })} />{t("review.dismissed")}</label>
      </div>
      {!asked.busy && asked.value?.notes.map(noteWords).filter(Boolean).map((words) => <p key={words} class="hint">{words}</p>)}
      {asked.problem ? (
        <Failed problem={asked.problem} again={asked.again} />
      ) : !asked.value || asked.busy ? (
        <Skeleton lines={3} />
      ) : items.length === 0 && !next ? (
        <Empty icon="check" title={t(`review.${kind}.none`)}><p>{t("review.none.help")}</p></Empty>
      ) : (
        <>
          <p class="muted" role="status">{t("review.count", { n: asked.value.total - done.size })}</p>
          <ol class="review-items">
            {items.map((item) => (
              <Item key={item.item} item={item} kind={kind} project={project} again={asked.again} gone={() => {
                if (shown.current !== asked.value) return;
                if (dismissed) asked.again(); // a dismissed one stays among them
                else setDone((all) => new Set([...all, item.item]));
              }} />
            ))}
          </ol>
          {next && (
            <div class="more">
              <Button onClick={() => api.review({ kind, project, deep, dismissed, cursor: next }).then((page) => shown.current === asked.value && setMore({ items: [...(more?.items ?? []), ...page.items], next: page.next }), complain)}>{t("action.more")}</Button>
            </div>
          )}
        </>
      )}
    </div>
  );
}

function Item(given: { item: ReviewItem; kind: ReviewKind; project: string; again: () => void; gone: () => void }): JSX.Element {
  const { item, kind, project, again, gone } = given;
  const [answering, answer] = useState<Resolution | null>(null);
  const writes = about.value?.access.write ?? false;
  const running = useRef(false);
  /** Whichever of its buttons are pressed meanwhile, an item is settled once. */
  const resolve = async (resolution: Resolution, text?: string) => {
    if (running.current) return;
    running.current = true;
    try {
      const steps = resolution.steps.map((step) => (text !== undefined && step["text"] === null ? { ...step, text } : step));
      const { changes } = await api.resolve(project, steps);
      answer(null);
      gone();
      sayDone(t("review.resolved"), project, changes, again);
    } catch (why) {
      complain(why);
    } finally {
      running.current = false;
    }
  };
  const dismiss = async (dismissed: boolean) => {
    try {
      await api.dismiss(project, item.item, dismissed);
      gone();
      say(t(dismissed ? "review.dismissed.done" : "review.taken_up"), async () => {
        await api.dismiss(project, item.item, !dismissed);
        again();
      });
    } catch (why) {
      complain(why);
    }
  };
  return (
    <li class="card review-item">
      <p class="meta">
        <Icon name={kind === "conflicts" ? "warn" : "review"} size={16} />
        <span>{whyWords(item)}</span>
        {item.confidence !== null && <Chip>{t("review.confidence", { n: Math.round(item.confidence * 100) })}</Chip>}
      </p>
      <div class="sides">
        {item.sides.map((side, index) => (
          <div key={side.memory.id} class="side-card">
            <p class="meta">
              <a href={href("memory", { project }, side.memory.id)}>
                {side.memory.title === said(side) ? <span aria-label={side.memory.title}>{t("graph.open")}</span> : <Name text={side.memory.title} />}
              </a>
              {item.sides.length > 1 && side.newer && <Chip kind="on">{t("review.newer")}</Chip>}
              <Ago at={side.at} />
            </p>
            <Text text={said(side)} />
            {writes && item.sides.length > 1 && (
              <div class="actions">
                {item.resolutions.filter((one) => one.keeps === index).map((one) => (
                  <Button key={one.name} kind={one.name === "suggested" ? "main" : "plain"} onClick={() => resolve(one)}>{resolutionWords(one.name, item.sides.length)}</Button>
                ))}
              </div>
            )}
          </div>
        ))}
      </div>
      {writes && (
        <footer class="actions">
          {item.resolutions.filter((one) => item.sides.length === 1 || one.keeps === null || one.keeps >= item.sides.length).map((one) => (
            <Button key={one.name} onClick={() => (one.steps.some((step) => step["text"] === null) ? answer(one) : void resolve(one))}>{resolutionWords(one.name, item.sides.length)}</Button>
          ))}
          <span class="spread" />
          <Button kind="quiet" onClick={() => dismiss(!item.dismissed)}>{t(item.dismissed ? "review.take_up" : "review.dismiss")}</Button>
        </footer>
      )}
      {answering && <AnswerDialog question={item.sides[0]?.quote ?? item.sides[0]?.memory.title ?? ""} onClose={() => answer(null)} then={(text) => void resolve(answering, text)} />}
    </li>
  );
}

/** What matters of a side: the sentence, or the whole memory. */
function said(side: ReviewItem["sides"][number]): string {
  return side.quote ?? side.memory.observations.map((one) => one.text).join("\n");
}

function AnswerDialog({ question, onClose, then }: { question: string; onClose: () => void; then: (text: string) => void }): JSX.Element {
  const [text, setText] = useState("");
  return (
    <Dialog title={t("resolution.answer")} onClose={onClose} typed={text.trim() !== ""}>
      <form onSubmit={(event) => { event.preventDefault(); if (text.trim()) then(text); }}>
        <blockquote><Text text={question} /></blockquote>
        <Field label={t("review.answer")}>{(id) => <textarea id={id} rows={4} dir="auto" required autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} />}</Field>
        <footer>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button submit kind="main">{t("memory.store")}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

const RESOLUTIONS: Readonly<Record<string, Key>> = {
  suggested: "resolution.suggested", supersede: "resolution.supersede", keep_first: "resolution.keep_first",
  keep: "resolution.keep_first", answer: "resolution.answer", renew: "resolution.renew",
};

/** Beside another, a button is under what it keeps: what it deletes must be named. */
function resolutionWords(name: string, sides: number): string {
  const key = name === "delete" || name === "archive" ? (sides === 1 ? "resolution.archive" : "resolution.delete") : RESOLUTIONS[name];
  return key ? t(key) : name;
}

const REASONS: Readonly<Record<string, Key>> = {
  noted: "reason.noted", number: "reason.number", date: "reason.date", negation: "reason.negation", meaning: "reason.meaning", superseded: "reason.superseded",
  do_and_do_not: "reason.do_and_do_not", opposed_decisions: "reason.opposed_decisions", both_ways: "reason.cycle", cycle: "reason.cycle",
  same_text: "reason.same_text", nearly_same: "reason.nearly_same", open_question: "reason.open_question",
  superseded_by: "reason.superseded_by", status: "reason.status", over: "reason.over",
};

/** Why two statements clash says more where both are in one memory. */
const WITHIN = "_within_one_item";

function whyWords(item: ReviewItem): string {
  const key = REASONS[item.why.code.replace(WITHIN, "")];
  if (!key) return item.why.text || item.why.code;
  const { status, day } = item.why.values;
  return t(key, { status: String(status ?? ""), day: String(day ?? "") }) + (item.why.code.endsWith(WITHIN) ? ` ${t("reason.within")}` : "");
}

const NOTES: Readonly<Record<string, Key>> = {
  "conflicts.not_read": "review.note.not_read", "conflicts.not_compared": "review.note.not_compared", "issues.not_compared": "review.note.not_compared",
  "conflicts.unjudged": "review.note.unjudged", "conflicts.unsure": "review.note.unsure",
};

/** What a review could not look at; that it found nothing is told elsewhere. */
function noteWords(note: Note): string {
  const key = NOTES[note.code];
  const count = note.values["pairs"] ?? note.values["items"];
  return key ? t(key, { n: typeof count === "number" ? count : 0 }) : note.text;
}
