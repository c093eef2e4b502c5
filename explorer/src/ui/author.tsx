import type { JSX } from "preact";
import type { Author as Named } from "../api/types";
import { Name } from "./stored";

export function Author({ author }: { author: Pick<Named, "who" | "client" | "tool"> }): JSX.Element {
  return (
    <span class="author">
      <Name text={author.client ?? author.who} />
      {author.tool && <code><Name text={author.tool} /></code>}
    </span>
  );
}

