import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { about, api } from "../api/client";
import { go, href } from "../route";
import { Button, complain, Dialog, Field, Select } from "../ui/parts";
import { sayDone } from "../writing";
import { t } from "../words";

/** What was typed when the page had to ask for another key: it is there again afterwards. */
let typed: Readonly<Record<"where" | "text" | "name" | "kind" | "tags" | "scope", string>> | null = null;

export function NewMemory({ project, onClose: away }: { project: string; onClose: () => void }): JSX.Element {
  const [where, setWhere] = useState(typed?.where ?? project);
  const [text, setText] = useState(typed?.text ?? "");
  const [name, setName] = useState(typed?.name ?? "");
  const [kind, setKind] = useState(typed?.kind ?? "");
  const [tags, setTags] = useState(typed?.tags ?? "");
  const [scope, setScope] = useState(typed?.scope ?? "");
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => void (typed = { where, text, name, kind, tags, scope }));
  const onClose = () => {
    typed = null;
    away();
  };
  const store = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { memory, changes, joined } = await api.store({
        project: where, text, name: name.trim() || undefined, kind: kind.trim() || undefined, tags: words(tags), scope: scope.trim() || undefined,
      });
      onClose();
      const address = href("memory", { project: where }, memory.id);
      go(address);
      sayDone(t(joined ? "memory.extended" : "memory.stored"), where, changes, () => location.hash === address && go(href("search", { project: where })), t("memory.joined"));
    } catch (why) {
      complain(why);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t("memory.new")} onClose={onClose} typed={text.trim() !== ""}>
      <form onSubmit={store}>
        <Field label={t("field.text")}>
          {(id) => <textarea id={id} rows={6} required dir="auto" value={text} autofocus onInput={(event) => setText(event.currentTarget.value)} />}
        </Field>
        <div class="fields">
          <Field label={t("field.name")} help={t("field.name.help")}>
            {(id) => <input id={id} dir="auto" value={name} onInput={(event) => setName(event.currentTarget.value)} />}
          </Field>
          <Field label={t("field.kind")}>{(id) => <input id={id} value={kind} onInput={(event) => setKind(event.currentTarget.value)} />}</Field>
          <Field label={t("field.tags")} help={t("field.tags.help")}>
            {(id) => <input id={id} dir="auto" value={tags} onInput={(event) => setTags(event.currentTarget.value)} />}
          </Field>
          <Field label={t("field.scope")}>{(id) => <input id={id} dir="auto" value={scope} placeholder="user/default" onInput={(event) => setScope(event.currentTarget.value)} />}</Field>
        </div>
        {(about.value?.projects.length ?? 0) > 1 && (
          <Select label={t("field.project")} value={where} options={about.value!.projects.map((one) => [one, one] as const)} onChange={setWhere} />
        )}
        <footer>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button submit kind="main" busy={busy}>
            {t("memory.store")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Tags as they are typed: parted by commas. */
export function words(typed: string): string[] {
  return [...new Set(typed.split(",").map((one) => one.trim()).filter(Boolean))];
}
