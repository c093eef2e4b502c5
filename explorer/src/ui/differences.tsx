import { diffArrays, diffWordsWithSpace } from "diff";
import type { JSX } from "preact";
import type { Memory } from "../api/types";
import { language } from "../choices";
import { t, type Key } from "../words";
import { Name, Piece, Text } from "./stored";

/** How two versions of a memory differ, field by field and word by word. */

const LONGEST = 20_000;
/** Beyond so many edits a comparison by words is neither quick nor readable: the texts are shown one after the other. */
const EDITS = 2_000;

export function Differences({ before, after }: { before: Memory | null; after: Memory | null }): JSX.Element {
  const texts = (memory: Memory | null) => memory?.observations.map((one) => one.text) ?? [];
  const fields = FIELDS.map(([key, read]) => [key, before ? read(before) : "", after ? read(after) : ""] as const).filter(
    ([key, was, is]) => was !== is && !((!before || !after) && (key === "field.scope" || key === "field.kind")),
  );
  const lines = diffArrays(texts(before), texts(after));
  const same = before && after && !fields.length && lines.every((one) => !one.added && !one.removed);
  return (
    <div class="differences">
      {same && <p class="muted">{t("diff.same")}</p>}
      {fields.map(([key, was, is]) => (
        <div key={key} class="difference">
          <span class="difference-field">{t(key)}</span>
          <span>
            {was && <del><Name text={was} /></del>} {is && <ins><Name text={is} /></ins>}
          </span>
        </div>
      ))}
      {pairs(lines).map(([was, is], index) => (
        <TextDifference key={index} was={was} is={is} />
      ))}
    </div>
  );
}

const FIELDS: readonly (readonly [Key, (memory: Memory) => string])[] = [
  ["field.name", (one) => one.name ?? ""],
  ["field.kind", (one) => one.kind],
  ["field.scope", (one) => one.scope],
  ["field.tags", (one) => one.tags.join(", ")],
  ["field.superseded", (one) => one.superseded_by?.title ?? ""],
  ["field.metadata", (one) => (Object.keys(one.metadata).length ? JSON.stringify(one.metadata) : "")],
];

/** Removed and added observations that follow each other are one that was changed. */
function pairs(lines: ReturnType<typeof diffArrays<string>>): [string | null, string | null][] {
  const found: [string | null, string | null][] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (!line.added && !line.removed) continue;
    const next = lines[at + 1];
    const removed = line.removed ? line.value : [];
    const added = line.added ? line.value : next?.added && line.removed ? next.value : [];
    if (line.removed && next?.added) at++;
    for (let place = 0; place < Math.max(removed.length, added.length); place++) found.push([removed[place] ?? null, added[place] ?? null]);
  }
  return found;
}

function TextDifference({ was, is }: { was: string | null; is: string | null }): JSX.Element {
  if (was !== null && is !== null && was.length + is.length <= LONGEST) {
    const parts = diffWordsWithSpace(was, is, { intlSegmenter: new Intl.Segmenter(language.value, { granularity: "word" }), maxEditLength: EDITS });
    if (parts)
      return (
        <div class="difference-text stored text" dir="auto">
          {parts.map((part) => {
            const words = <Piece text={part.value} />;
            return part.added ? <ins>{words}</ins> : part.removed ? <del>{words}</del> : words;
          })}
        </div>
      );
  }
  return (
    <>
      {was !== null && <del class="difference-text block"><Text text={was} /></del>}
      {is !== null && <ins class="difference-text block"><Text text={is} /></ins>}
    </>
  );
}
