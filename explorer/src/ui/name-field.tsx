import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { api } from "../api/client";
import { useAsked, useRested } from "../ask";
import { plain } from "./stored";

/** A field that asks for a memory by its name and completes it; what is typed may be an id as well. */
export function NameField(given: { label: string; hideLabel?: boolean; project: string | undefined; value: string; onChange: (name: string) => void }): JSX.Element {
  const id = useId();
  const prefix = useRested(given.value, 120);
  const names = useAsked((signal) => (prefix ? api.names(prefix, given.project, signal) : Promise.resolve({ names: [] })), [prefix, given.project]);
  return (
    <div class="field">
      <label for={id} class={given.hideLabel ? "unseen" : undefined}>{given.label}</label>
      <input id={id} list={`${id}-names`} required dir="auto" autocomplete="off" placeholder={given.hideLabel ? given.label : undefined} value={given.value} onInput={(event) => given.onChange(event.currentTarget.value)} />
      <datalist id={`${id}-names`}>{names.value?.names.map((one) => <option key={one.id} value={one.name}>{plain(one.kind)}</option>)}</datalist>
    </div>
  );
}
