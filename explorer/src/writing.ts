import { api, Problem } from "./api/client";
import { complain, say } from "./ui/parts";
import { t } from "./words";

/** What several screens do to memories: each says what happened and offers the way back. */

export async function undone(project: string, changes: readonly number[], then: () => void): Promise<void> {
  const { changes: back } = await api.undo(changes, project);
  then();
  say(t("undo.done"), back.length ? () => undone(project, back, then) : undefined);
}

/** Says what was done, with the way back; or that nothing changed. */
export function sayDone(words: string, project: string, changes: readonly number[], then: () => void, same = t("memory.same")): void {
  if (changes.length) say(words, () => undone(project, changes, then));
  else say(same);
}

export async function removeMemories(memories: readonly { id: string; title: string; project: string }[], then: () => void): Promise<void> {
  const first = memories[0];
  if (!first) return;
  try {
    const { deleted, changes } = await api.delete(memories.map((one) => one.id), first.project);
    then();
    sayDone(deleted.length === 1 ? t("memory.deleted", { title: first.title }) : t("memory.deleted.many", { n: deleted.length }), first.project, changes, then, t("memory.deleted.before"));
  } catch (why) {
    if (!(why instanceof Problem && why.status === 404)) complain(why);
    else {
      then(); // somebody was faster
      say(t("memory.deleted.before"));
    }
  }
}
