import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, Problem } from "../api/client";
import { useAsked } from "../ask";
import { Author } from "../ui/author";
import { Differences } from "../ui/differences";
import { Button, complain, Dialog, Failed, Skeleton } from "../ui/parts";
import { Name } from "../ui/stored";
import { moment } from "../ui/time";
import { sayDone } from "../writing";
import { t } from "../words";
import { RelationLines } from "./timeline";

export type Undoing = { change: number } | { changes: readonly number[] } | { since: string } | { session: string };

/** Shows what an undo would do before it does it. */
export function UndoDialog(given: { project: string; what: Undoing; onClose: () => void; then: () => void }): JSX.Element {
  const { project, onClose, then } = given;
  const [what, setWhat] = useState(given.what);
  const [blocked, block] = useState<Problem | null>(null);
  const preview = useAsked(() => api.undoPreview({ project, ...what }), [project, JSON.stringify(what)]);
  const [busy, setBusy] = useState(false);
  const value = preview.value;
  const later = blocked?.details["changes"];
  // Somebody may have undone one of them meanwhile: it is done, and to undo that undo is not what is wanted.
  const undone = value?.steps.filter((step) => step.change.undone_by !== null) ?? [];
  const steps = value?.steps.filter((step) => step.change.undone_by === null) ?? [];
  const changes = value?.changes.filter((one) => !undone.some((step) => step.change.change === one)) ?? [];
  /** Later changes that build on these go with them, if one wants that. */
  const takeToo = () => {
    if (!value || !Array.isArray(later)) return;
    setWhat({ changes: [...changes, ...(later as number[])] });
    block(null);
  };
  const go = async () => {
    setBusy(true);
    try {
      const done = await api.undo(changes, project);
      onClose();
      then();
      sayDone(t("undo.done"), project, done.changes, then);
    } catch (why) {
      setBusy(false);
      if (why instanceof Problem && why.status === 409) {
        block(why);
        preview.again();
      }
      else complain(why);
    }
  };
  return (
    <Dialog title={t("undo.title")} onClose={onClose} wide>
      {undone.map(({ change }) => <p key={change.change} class="banner" role="alert">{t("undo.already", { n: String(change.change), by: String(change.undone_by) })}</p>)}
      {blocked && !undone.length && (
        <div class="banner" role="alert">
          <span>{blocked.message}</span>
          {Array.isArray(later) && <Button onClick={takeToo}>{t("undo.too")}</Button>}
        </div>
      )}
      {preview.problem ? (
        <Failed problem={preview.problem} again={preview.again} />
      ) : !value ? (
        <Skeleton lines={2} />
      ) : changes.length === 0 ? (
        <p>{t("undo.nothing")}</p>
      ) : (
        <>
          <p>{t("undo.preview", { n: changes.length })}</p>
          {value.final.length > 0 && <p class="banner" role="alert">{t("undo.final", { n: value.final.length })}</p>}
          <ol class="steps">
            {steps.map((step) => (
              <li key={step.change.change}>
                <p class="meta"><strong>#{step.change.change}</strong> {moment(step.change.at)} <Author author={step.change} /></p>
                {step.effects.map((effect, index) => (
                  <div key={index} class="step">
                    <p>
                      <span class={`how ${effect.how.replace(" ", "-")}`}>{howWords(effect.how)}</span>{" "}
                      <Name text={(effect.after ?? effect.before)?.title ?? ""} />
                    </p>
                    <Differences before={effect.before} after={effect.after} />
                  </div>
                ))}
                <ul class="effects">
                  <RelationLines of={step} project={project} how={(one) => (one.how === "deleted" ? "restores" : "deletes")} />
                </ul>
                {step.total > step.effects.length && <p class="muted">{t("timeline.others", { n: step.total - step.effects.length })}</p>}
              </li>
            ))}
          </ol>
        </>
      )}
      <footer>
        <Button onClick={onClose}>{t("action.cancel")}</Button>
        {changes.length > 0 && (
          <Button icon="undo" kind="main" busy={busy} onClick={() => go()}>{t("undo.do", { n: changes.length })}</Button>
        )}
      </footer>
    </Dialog>
  );
}

export function howWords(how: string): string {
  const known = { made: "how.made", changed: "how.changed", deleted: "how.deleted", restored: "how.restored", deletes: "how.deletes", restores: "how.restores", "sets back": "how.sets_back" } as const;
  return how in known ? t(known[how as keyof typeof known]) : how;
}
