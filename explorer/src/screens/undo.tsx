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

export type Undoing = { change: number } | { changes: readonly number[] } | { since: string } | { session: string };

/** Shows what an undo would do before it does it. */
export function UndoDialog(given: { project: string; what: Undoing; onClose: () => void; then: () => void }): JSX.Element {
  const { project, what, onClose, then } = given;
  const preview = useAsked(() => api.undoPreview({ project, ...what }), [project, JSON.stringify(what)]);
  const [busy, setBusy] = useState(false);
  const value = preview.value;
  const blocked = preview.problem instanceof Problem && preview.problem.status === 409;
  const go = async () => {
    setBusy(true);
    try {
      const { changes } = await api.undo(value!.changes, project);
      onClose();
      then();
      sayDone(t("undo.done"), project, changes, then);
    } catch (why) {
      complain(why);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t("undo.title")} onClose={onClose} wide>
      {preview.problem ? (
        blocked ? <p class="banner" role="alert">{(preview.problem as Problem).message}</p> : <Failed problem={preview.problem} again={preview.again} />
      ) : !value ? (
        <Skeleton lines={2} />
      ) : value.changes.length === 0 ? (
        <p>{t("undo.nothing")}</p>
      ) : (
        <>
          <p>{t("undo.preview", { n: value.changes.length })}</p>
          {value.final.length > 0 && <p class="banner" role="alert">{t("undo.final", { n: value.final.length })}</p>}
          <ol class="steps">
            {value.steps.map((step) => (
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
                {step.total > step.effects.length && <p class="muted">{t("timeline.others", { n: step.total - step.effects.length })}</p>}
              </li>
            ))}
          </ol>
        </>
      )}
      <footer>
        <Button onClick={onClose}>{t("action.cancel")}</Button>
        {value && value.changes.length > 0 && (
          <Button icon="undo" kind="main" busy={busy} onClick={() => void go()}>{t("undo.do", { n: value.changes.length })}</Button>
        )}
      </footer>
    </Dialog>
  );
}

export function howWords(how: string): string {
  const known = { made: "how.made", changed: "how.changed", deleted: "how.deleted", restored: "how.restored", deletes: "how.deletes", restores: "how.restores", "sets back": "how.sets_back" } as const;
  return how in known ? t(known[how as keyof typeof known]) : how;
}
