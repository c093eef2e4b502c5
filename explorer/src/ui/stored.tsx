import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { t } from "../words";

/** Text out of the store. It is always text: nothing in it becomes markup, and its direction stays inside. */

const SHOWN = 4_000;
/** A browser takes seconds to lay out a million characters: long texts come in pieces. */
const MORE = 100_000;
/** Characters that turn the direction of text or are invisible: what they hide is shown instead of done. */
const HIDDEN = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/u;
const PIECES = /(https?:\/\/[^\s<>"'`\u0000-\u001F\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]+)/u;

export type Range = readonly [start: number, end: number];

/** A short piece of stored text: a name, a scope, a tag. */
export function Name({ text, marks = [] }: { text: string; marks?: readonly Range[] }): JSX.Element {
  return <bdi class="stored">{marked(text, marks)}</bdi>;
}

/** A part of a text whose direction is that of the whole: alone, each would stand in an order of its own. */
export function Piece({ text }: { text: string }): JSX.Element {
  return <>{visible(text)}</>;
}

/** The same where only characters can be shown: in a choice, a title, a label. */
export function plain(text: string): string {
  return [...text].map((one) => (HIDDEN.test(one) ? nameOf(one) : one)).join("");
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A stored text with its line breaks, its web addresses as links, cut where it is huge. */
export function Text({ text, marks = [] }: { text: string; marks?: readonly Range[] }): JSX.Element {
  const [most, show] = useState(SHOWN);
  const cut = text.length > most;
  const shown = cut ? text.slice(0, end(text, most)) : text;
  return (
    <div class="stored text" dir="auto">
      {marks.length ? marked(shown, marks) : linked(shown)}
      {cut && (
        <>
          {"… "}
          <button type="button" class="quiet" onClick={() => show(most + MORE)}>
            {text.length > most + MORE ? t("text.more", { n: MORE, all: text.length }) : t("text.all", { n: text.length })}
          </button>
        </>
      )}
    </div>
  );
}

/** Where a text can be cut without halving a character. */
function end(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

export function marked(text: string, marks: readonly Range[]): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const [start, stop] of [...marks].sort((a, b) => a[0] - b[0])) {
    if (start < from || stop <= start || start >= text.length) continue;
    parts.push(...visible(text.slice(from, start)), <mark>{visible(text.slice(start, stop))}</mark>);
    from = Math.min(stop, text.length);
  }
  parts.push(...visible(text.slice(from)));
  return parts;
}

function linked(text: string): ComponentChildren[] {
  return text.split(PIECES).flatMap((piece, index) => {
    if (index % 2 === 0) return visible(piece);
    // A full stop or a bracket at the end belongs to the sentence.
    const address = piece.replace(/[.,;:!?)\]}]+$/u, "");
    return [
      <a href={address} target="_blank" rel="noopener noreferrer nofollow">
        {address}
      </a>,
      piece.slice(address.length),
    ];
  });
}

function visible(text: string): ComponentChildren[] {
  if (!HIDDEN.test(text)) return text ? [text] : [];
  return [...text].reduce<ComponentChildren[]>((parts, character) => {
    const last = parts.length - 1;
    if (HIDDEN.test(character)) {
      const name = nameOf(character);
      parts.push(
        <span class="hidden-character" title={t("text.hidden", { name })}>
          {name}
        </span>,
      );
    } else if (typeof parts[last] === "string") parts[last] = `${parts[last]}${character}`;
    else parts.push(character);
    return parts;
  }, []);
}
