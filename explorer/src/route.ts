import { useEffect, useMemo, useState } from "preact/hooks";

/** Where the page is: everything a saved link needs, and nothing a server sees (it lives in the fragment). */
export interface Route {
  readonly screen: Screen;
  /** What the screen shows, where it shows one thing. */
  readonly target: string | null;
  readonly given: Readonly<Record<string, string>>;
}

export const SCREENS = ["search", "memory", "timeline", "graph", "review", "scopes", "transfer", "health"] as const;
export type Screen = (typeof SCREENS)[number];

type Given = Readonly<Record<string, string | null | undefined>>;

export function read(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const [first = "", second] = path.split("/", 2);
  const screen = SCREENS.find((one) => one === first) ?? "search";
  return { screen, target: second ? decode(second) : null, given: Object.fromEntries(new URLSearchParams(query)) };
}

export function href(screen: Screen, given: Given = {}, target?: string | null): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value) query.set(name, value);
  const asked = query.toString();
  return `#/${screen}${target ? `/${encodeURIComponent(target)}` : ""}${asked ? `?${asked}` : ""}`;
}

/** Go there; `replace` keeps typing in a field from filling the browser's history. */
export function go(address: string, replace = false): void {
  if (address === location.hash) return;
  if (replace) {
    history.replaceState(history.state, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = address;
}

/** Which place of the browser's history this is: a screen finds by it what it showed there. */
export function place(): number {
  const known: unknown = history.state?.place;
  if (typeof known === "number") return known;
  const made = Date.now();
  history.replaceState({ place: made }, "");
  return made;
}

export function useRoute(): Route {
  const [fragment, set] = useState(location.hash);
  useEffect(() => {
    const heard = () => set(location.hash);
    heard(); // it may have changed before anybody listened
    addEventListener("hashchange", heard);
    return () => removeEventListener("hashchange", heard);
  }, []);
  return useMemo(() => read(fragment), [fragment]);
}

export function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
