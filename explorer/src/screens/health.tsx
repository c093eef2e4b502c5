import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { about, api, hasKey, setKey } from "../api/client";
import type { Access, Health, KeyInfo } from "../api/types";
import { useAsked, useTitle } from "../ask";
import { Button, Chip, complain, copy, Dialog, Failed, Field, say, Select, Skeleton } from "../ui/parts";
import { Name } from "../ui/stored";
import { Ago, bytes, moment, number } from "../ui/time";
import { t } from "../words";

export function HealthScreen({ project }: { project: string | undefined }): JSX.Element {
  useTitle(t("nav.health"));
  const health = useAsked(() => api.health(), []);
  return (
    <div class="health">
      <div class="title-row">
        <h1>{t("nav.health")}</h1>
        <Button icon="refresh" kind="quiet" label={t("action.refresh")} onClick={health.again} />
      </div>
      {health.problem ? <Failed problem={health.problem} again={health.again} /> : !health.value ? <Skeleton lines={3} /> : <Told health={health.value} project={project} />}
      <Keys />
    </div>
  );
}

function Told({ health, project }: { health: Health; project: string | undefined }): JSX.Element {
  const passes = (one: { project: string }) => !project || one.project === project;
  const projects = health.projects.filter(passes);
  const clients = health.clients.filter(passes);
  const sum = (read: (one: Health["projects"][number]) => number) => projects.reduce((all, one) => all + read(one), 0);
  const pending = sum((one) => one.pending ?? 0);
  const figures: [string, string][] = [
    [t("health.status"), health.status === "ready" ? t("health.ready") : health.status],
    [t("health.memories"), number(sum((one) => one.memories))],
    [t("health.relations"), number(sum((one) => one.relations))],
    [t("health.size"), health.store.bytes == null ? "–" : bytes(health.store.bytes)],
    [t("health.pending"), number(pending)],
  ];
  return (
    <>
      <dl class="figures">
        {figures.map(([name, value]) => <div key={name} class="card"><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
      <section class="card">
        <h2>{t("health.projects")}</h2>
        <Table head={[t("field.project"), t("health.memories"), t("health.relations"), t("health.vectors"), t("health.pending")]} rows={projects.map((one) => [
          <Name text={one.project} />, number(one.memories), number(one.relations), number(Object.values(one.vectors).reduce((all, count) => all + count, 0)), one.pending === null ? "–" : number(one.pending),
        ])} />
      </section>
      <section class="card">
        <h2>{t("health.clients")}</h2>
        {clients.length === 0 ? <p class="muted">{t("health.clients.none")}</p> : (
          <Table head={[t("timeline.client"), t("field.author"), t("field.project"), t("health.changes"), t("health.last")]} rows={clients.map((one) => [
            <Name text={one.client ?? "–"} />, <Name text={one.who} />, <Name text={one.project} />, number(one.changes), <Ago at={one.last} />,
          ])} />
        )}
      </section>
      <div class="two">
        <section class="card">
          <h2>{t("health.server")}</h2>
          <Values values={{ version: health.version, store: `${health.store.kind === "sqlite" ? "SQLite" : health.store.kind === "postgres" ? "PostgreSQL" : health.store.kind}${health.store.format == null ? "" : t("health.format", { n: health.store.format })}`, ...(health.store.path ? { path: health.store.path } : {}), ...health.server }} />
        </section>
        <section class="card">
          <h2>{t("health.limits")}</h2>
          <Values values={health.limits} />
        </section>
      </div>
    </>
  );
}

function Values({ values }: { values: Readonly<Record<string, string | number | null | undefined>> }): JSX.Element {
  const words = (name: string, value: string | number | null | undefined) =>
    typeof value === "number" ? (name.endsWith("bytes") ? bytes(value) : number(value)) : name === "started" && value ? moment(value) : (value ?? "–");
  return (
    <dl class="details">
      {Object.entries(values).map(([name, value]) => <div key={name}><dt>{nameWords(name)}</dt><dd><Name text={String(words(name, value))} /></dd></div>)}
    </dl>
  );
}

const NAMES = [
  "version", "store", "path", "started", "sessions", "rate_limit", "rate_limit_session", "rate_limit_heavy", "rate_limit_explorer", "max_sessions", "max_connections",
  "max_message_bytes", "max_text_bytes", "max_name_bytes", "max_batch", "max_import_bytes", "max_project_memories", "max_project_texts",
] as const;

function nameWords(name: string): string {
  const known = NAMES.find((one) => one === name);
  return known ? t(`health.${known}`) : name.replaceAll("_", " ");
}

function Table({ head, rows }: { head: readonly string[]; rows: readonly (readonly (JSX.Element | string)[])[] }): JSX.Element {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={head[0]}>
      <table>
        <thead><tr>{head.map((one) => <th key={one} scope="col">{one}</th>)}</tr></thead>
        <tbody>{rows.map((row, index) => <tr key={index}>{row.map((cell, column) => <td key={column}>{cell}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

function Keys(): JSX.Element | null {
  const manage = about.use()?.access.manage ?? false;
  const keys = useAsked(() => (manage ? api.keys() : Promise.resolve(null)), [manage]);
  const [making, make] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, revoke] = useState<KeyInfo | null>(null);
  if (!manage) return null;
  const made = (key: string) => {
    make(false);
    setSecret(key);
    // From the first key on this page needs one as well: without it the secret would be gone before it was read.
    if (!hasKey() || !keys.value?.needed) {
      setKey(key);
      api.about().then(about.set.bind(about), complain);
    }
    keys.again();
  };
  return (
    <section class="card">
      <div class="title-row">
        <h2>{t("keys.title")}</h2>
        <Button icon="plus" onClick={() => make(true)}>{t("keys.create")}</Button>
      </div>
      {keys.problem ? <Failed problem={keys.problem} again={keys.again} /> : !keys.value ? <Skeleton lines={1} /> : (
        <>
          {!keys.value.needed && <p class="hint">{t("keys.open")}</p>}
          {keys.value.keys.length > 0 && (
            <Table head={[t("keys.name"), t("keys.access"), t("keys.projects"), t("field.created"), t("keys.revoke")]} rows={keys.value.keys.map((key) => [
              <><Name text={key.name} /> {key.current && <Chip kind="on">{t("keys.current")}</Chip>}</>,
              accessWords(key.access), key.projects ? <Name text={key.projects.join(", ")} /> : t("project.all"), moment(key.created),
              <Button icon="trash" kind="quiet" label={t("keys.revoke.named", { name: key.name })} onClick={() => revoke(key)} />,
            ])} />
          )}
        </>
      )}
      {making && <CreateKey first={!keys.value?.needed} onClose={() => make(false)} then={made} />}
      {secret !== null && (
        <Dialog title={t("keys.secret")} onClose={() => setSecret(null)}>
          <p>{t("keys.secret.help")}</p>
          <p class="secret"><code>{secret}</code></p>
          <footer><Button icon="copy" kind="main" onClick={() => copy(secret, t("action.copied"))}>{t("action.copy")}</Button></footer>
        </Dialog>
      )}
      {revoking && (
        <Dialog title={t("keys.revoke.named", { name: revoking.name })} onClose={() => revoke(null)}>
          <p>{t(revoking.current ? "keys.revoke.own" : "keys.revoke.help")}</p>
          <footer>
            <Button onClick={() => revoke(null)}>{t("action.cancel")}</Button>
            <Button kind="danger" onClick={() => api.revokeKey(revoking.id).then(() => { revoke(null); keys.again(); say(t("keys.revoked")); }, complain)}>{t("keys.revoke")}</Button>
          </footer>
        </Dialog>
      )}
    </section>
  );
}

const ACCESS = ["read", "write", "manage", "metrics"] as const satisfies readonly Access[];

function accessWords(access: Access): string {
  return t(`access.${access}`);
}

function CreateKey({ first, onClose, then }: { first: boolean; onClose: () => void; then: (secret: string) => void }): JSX.Element {
  const [name, setName] = useState("");
  const [access, setAccess] = useState<Access>(first ? "manage" : "write");
  const [projects, setProjects] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const scoped = access === "read" || access === "write"; // the others open all projects, or none
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { secret } = await api.createKey({ name: name.trim(), access, projects: scoped && projects.length ? [...projects] : undefined });
      then(secret);
    } catch (why) {
      complain(why);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t("keys.create")} onClose={onClose}>
      <form onSubmit={save}>
        {first && <p class="banner">{t("keys.first")}</p>}
        <Field label={t("keys.name")} help={t("keys.name.help")}>{(id) => <input id={id} required autofocus value={name} onInput={(event) => setName(event.currentTarget.value)} />}</Field>
        <Select label={t("keys.access")} value={access} options={ACCESS.filter((one) => !first || one === "manage").map((one) => [one, accessWords(one)] as const)} onChange={setAccess} />
        {scoped && (
          <fieldset class="checks">
            <legend>{t("keys.projects")} <span class="muted">{projects.length ? "" : t("project.all")}</span></legend>
            {about.value?.projects.map((one) => (
              <label key={one} class="check">
                <input type="checkbox" checked={projects.includes(one)} onChange={() => setProjects(projects.includes(one) ? projects.filter((other) => other !== one) : [...projects, one])} />
                <Name text={one} />
              </label>
            ))}
          </fieldset>
        )}
        <footer>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button submit kind="main" busy={busy}>{t("keys.create")}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
