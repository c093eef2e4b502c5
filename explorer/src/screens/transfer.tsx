import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { about, api, type Incoming } from "../api/client";
import type { ProjectTree } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { download } from "../graph/files";
import { Icon } from "../ui/icons";
import { Button, complain, Field, Select } from "../ui/parts";
import { Name } from "../ui/stored";
import { bytes, number } from "../ui/time";
import { sayDone } from "../writing";
import { t } from "../words";
import { EffectLine } from "./timeline";

export function TransferScreen({ project }: { project: string }): JSX.Element {
  useTitle(t("nav.transfer"));
  const [turn, next] = useState(0);
  return (
    <div class="transfer">
      <h1>{t("nav.transfer")}</h1>
      <div class="two">
        <Export key={project} project={project} turn={turn} />
        {about.value?.access.write && <Import key={`in-${project}`} project={project} done={() => next((at) => at + 1)} />}
      </div>
    </div>
  );
}

function Export({ project, turn }: { project: string; turn: number }): JSX.Element {
  const formats = about.value?.formats.export ?? [];
  const [format, setFormat] = useState(formats.find((one) => one === "project-json") ?? formats[0] ?? "");
  const [scope, setScope] = useState("");
  const [busy, setBusy] = useState(false);
  const tree = useAsked(() => api.tree(project), [project, turn]);
  const scoped = !format.startsWith("graph");
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { name, file } = await api.export({ project, format, scope: scoped ? scope.trim() || undefined : undefined });
      download(name, file);
    } catch (why) {
      complain(why);
    }
    setBusy(false);
  };
  return (
    <form class="card" onSubmit={save}>
      <h2>{t("export.title")}</h2>
      <p class="muted">{t("export.help")} <Name text={project} /></p>
      <Select label={t("export.format")} value={format} options={formats.map((one) => [one, formatWords(one)] as const)} onChange={setFormat} />
      {scoped && (
        <Field label={t("field.scope")} help={t("export.scope")}>{(id) => <input id={id} dir="auto" value={scope} onInput={(event) => setScope(event.currentTarget.value)} />}</Field>
      )}
      {tree.value && <p role="status">{contentWords(tree.value.projects[0], scoped ? scope.trim() : "")}</p>}
      <footer><Button submit icon="download" kind="main" busy={busy}>{t("export.do")}</Button></footer>
    </form>
  );
}

const FORMATS = ["graph-json", "graph-jsonl", "archive-json", "archive-yaml", "project-json", "project-csv", "project-markdown", "project-zip"] as const;

function formatWords(name: string): string {
  const known = FORMATS.find((one) => one === name);
  return known ? t(`format.${known}`) : name;
}

/** What a download will hold. Relations are counted for the whole project alone. */
function contentWords(tree: ProjectTree | undefined, scope: string): string {
  if (!tree) return t("export.nothing");
  if (!scope) return `${t("export.holds")} ${t("count.memories", { n: tree.memories })}, ${t("count.relations", { n: tree.relations })}`;
  return `${t("export.holds")} ${t("count.memories", { n: tree.scopes.find((one) => one.path === scope)?.total ?? 0 })}`;
}

function Import({ project, done }: { project: string; done: () => void }): JSX.Element {
  const [file, setFile] = useState<(Pick<Incoming, "name" | "data" | "base64"> & { size: number }) | null>(null);
  const [existing, setExisting] = useState<"merge" | "replace" | "keep">("merge");
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const most = about.value?.limits["message_bytes"] ?? Infinity;
  // What is shown is always what would be done: an answer about another file or choice is dropped.
  const asked = useAsked(async (signal) => {
    if (!file) return null;
    const { size: _, ...incoming } = file;
    try {
      return await api.importPreview({ project, existing, ...incoming }, signal);
    } catch (why) {
      if (!signal.aborted) complain(why);
      return null;
    }
  }, [file, existing]);
  const preview = asked.busy ? null : asked.value;
  const take = async (chosen: File | undefined) => {
    if (!chosen) return;
    if (chosen.size * 1.4 > most) {
      complain(new Error(t("import.large", { size: bytes(chosen.size), most: bytes(most) })));
      return;
    }
    try {
      setFile({ name: chosen.name, size: chosen.size, ...(await contents(chosen)) });
    } catch (why) {
      complain(why); // a folder, or a file that is gone
    }
  };
  const run = async () => {
    if (!file) return;
    setBusy(true);
    try {
      const { size: _, ...incoming } = file;
      const { changes } = await api.import({ project, existing, ...incoming });
      setFile(null);
      done();
      sayDone(t("import.done"), project, changes, done);
    } catch (why) {
      complain(why);
    }
    setBusy(false);
  };
  const counts = Object.entries(preview?.imported ?? {}).filter((one): one is [string, number] => typeof one[1] === "number");
  return (
    <section class="card">
      <h2>{t("import.title")}</h2>
      <p class="muted">{t("import.help")} <Name text={project} /></p>
      <label
        class={over ? "drop over" : "drop"}
        onDragOver={(event) => { event.preventDefault(); setOver(true); }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => { event.preventDefault(); setOver(false); void take(event.dataTransfer?.files[0]); }}
      >
        <Icon name="transfer" size={24} />
        <span>{file ? <><Name text={file.name} /> · {bytes(file.size)}</> : t("import.drop")}</span>
        <input type="file" class="unseen" onChange={({ currentTarget: input }) => {
          void take(input.files?.[0]);
          input.value = ""; // so that the same file can be chosen again
        }} />
      </label>
      <Select
        label={t("import.existing")}
        value={existing}
        options={[["merge", t("import.merge")], ["keep", t("import.keep")], ["replace", t("import.replace")]]}
        onChange={setExisting}
      />
      <div aria-live="polite">
        {preview && (
          <div class="preview">
            <p><strong>{t("import.preview")}</strong> <span class="chip">{preview.form}</span></p>
            <dl class="details">
              {counts.filter(([, count]) => count > 0).map(([name, count]) => (
                <div key={name}><dt>{countWords(name)}</dt><dd>{number(count)}</dd></div>
              ))}
            </dl>
            {counts.every(([, count]) => !count) && <p class="muted">{t("import.nothing")}</p>}
            {preview.examples.length > 0 && <ul class="effects">{preview.examples.map((one, index) => <EffectLine key={index} effect={{ ...one, id: null }} project={project} />)}</ul>}
            {preview.problems.length > 0 && (
              <details open>
                <summary>{t("import.problems", { n: preview.problems.length })}</summary>
                <ul class="plain">{preview.problems.slice(0, 50).map((one, index) => <li key={index}><Name text={typeof one === "string" ? one : JSON.stringify(one)} /></li>)}</ul>
              </details>
            )}
          </div>
        )}
      </div>
      <footer><Button icon="check" kind="main" disabled={!preview} busy={busy || (file !== null && asked.busy)} onClick={() => run()}>{t("import.do")}</Button></footer>
    </section>
  );
}

const COUNTS = [
  "entities_new", "entities_extended", "entities_replaced", "entities_unchanged", "observations_new", "relations_new", "relations_known",
  "imported", "updated", "skipped", "overwritten", "versions", "merged", "associations", "relationships",
] as const;

function countWords(name: string): string {
  const known = COUNTS.find((one) => one === name);
  return known ? t(`import.count.${known}`) : name.replaceAll("_", " ");
}

/** A file as the call takes it: its text, or base64 where it is none. */
async function contents(file: File): Promise<{ data: string; base64: boolean }> {
  const raw = new Uint8Array(await file.arrayBuffer());
  try {
    return { data: new TextDecoder("utf-8", { fatal: true }).decode(raw), base64: false };
  } catch {
    let text = "";
    for (let at = 0; at < raw.length; at += 32_768) text += String.fromCharCode(...raw.subarray(at, at + 32_768));
    return { data: btoa(text), base64: true };
  }
}
