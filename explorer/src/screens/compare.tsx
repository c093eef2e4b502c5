import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client";
import type { Memory } from "../api/types";
import { useAsked } from "../ask";
import { go, href, type Route } from "../route";
import { Differences } from "../ui/differences";
import { Button, Empty, Failed, Field, Skeleton } from "../ui/parts";
import { Name } from "../ui/stored";
import { moment, number } from "../ui/time";
import { t } from "../words";

const CHOICES = [["hour", 3_600_000], ["day", 86_400_000], ["week", 604_800_000], ["month", 2_592_000_000]] as const;

/** What a project has at one moment and not at another. */
export function CompareMoments({ route, project }: { route: Route; project: string }): JSX.Element {
  const { given } = route;
  const [from, setFrom] = useState(local(given["from"] ?? new Date(Date.now() - 86_400_000).toISOString()));
  const [to, setTo] = useState(given["to"] ? local(given["to"]) : "");
  useEffect(() => {
    if (given["from"]) setFrom(local(given["from"]));
    setTo(given["to"] ? local(given["to"]) : "");
  }, [given["from"], given["to"]]);
  const set = (start: string, end: string) =>
    go(href("timeline", { ...given, tab: "compare", from: new Date(start).toISOString(), to: end ? new Date(end).toISOString() : null }));
  return (
    <>
      <form class="toolbar" onSubmit={(event) => { event.preventDefault(); set(from, to); }}>
        <Field label={t("compare.from")}>{(id) => <input id={id} type="datetime-local" required value={from} onInput={(event) => setFrom(event.currentTarget.value)} />}</Field>
        <Field label={t("compare.to")}>{(id) => <input id={id} type="datetime-local" value={to} onInput={(event) => setTo(event.currentTarget.value)} />}</Field>
        <Button submit kind="main">{t("compare.do")}</Button>
        <span class="quick">
          {CHOICES.map(([name, length]) => (
            <Button key={name} kind="quiet" onClick={() => { const at = local(new Date(Date.now() - length).toISOString()); setFrom(at); setTo(""); set(at, ""); }}>
              {t(`compare.${name}`)}
            </Button>
          ))}
        </span>
      </form>
      {given["from"] ? <Compared project={project} from={given["from"]} to={given["to"]} /> : <Empty icon="timeline" title={t("compare.choose")}><p>{t("compare.help")}</p></Empty>}
    </>
  );
}

function Compared({ project, from, to }: { project: string; from: string; to: string | undefined }): JSX.Element {
  const asked = useAsked(() => api.compare({ project, from, to }), [project, from, to]);
  const value = asked.value;
  if (asked.problem) return <Failed problem={asked.problem} again={asked.again} />;
  if (!value) return <Skeleton lines={3} />;
  const list = (title: string, kind: string, memories: readonly (readonly [Memory | null, Memory | null])[]) =>
    memories.length > 0 && (
      <section class="card">
        <h2>{title} <span class="count">{memories.length}</span></h2>
        <ul class="compared">
          {memories.map(([before, after]) => {
            const one = (after ?? before)!;
            return (
              <li key={one.id}>
                <span class={`how ${kind}`} aria-hidden="true" /> <a href={href("memory", { project }, one.id)}><Name text={one.title} /></a> <span class="muted"><Name text={one.kind} /></span>
                <details open={memories.length <= 5}>
                  <summary>{t(before && after ? "compare.differences" : "field.text")}</summary>
                  <Differences before={before} after={after} />
                </details>
              </li>
            );
          })}
        </ul>
      </section>
    );
  return (
    <>
      <p role="status" class="muted">
        <Name text={project} /> · {moment(value.from)} – {moment(value.to)} · {t("compare.changes", { n: number(value.changes) })}
        {value.cut && ` · ${t("compare.cut")}`}
      </p>
      {value.total === 0 && <Empty icon="check" title={t("compare.same")} />}
      {list(t("compare.made"), "made", value.made.map((one) => [null, one] as const))}
      {list(t("compare.changed"), "changed", value.changed.map((one) => [one.before, one.after] as const))}
      {list(t("compare.deleted"), "deleted", value.deleted.map((one) => [one, null] as const))}
    </>
  );
}

/** A moment as a field of the browser wants it: in the clock of this place, to the minute. */
function local(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
