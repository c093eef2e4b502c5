import { useEffect, useState } from "preact/hooks";

/** What a person chose and the browser remembers. A browser that refuses to remember is no error. */
export type Theme = "system" | "light" | "dark";
export type Language = "en" | "ko";

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`polymnia.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`polymnia.${name}`, value);
  } catch {
    // private windows: it holds until the page is left
  }
}

/** A value that several components show and one of them changes. */
export class Shared<T> {
  private readonly heard = new Set<(value: T) => void>();

  constructor(private now: T) {}

  get value(): T {
    return this.now;
  }

  set(value: T): void {
    this.now = value;
    for (const tell of [...this.heard]) tell(value);
  }

  use(): T {
    const [value, set] = useState<{ now: T }>({ now: this.now });
    useEffect(() => {
      const tell = (now: T) => set({ now });
      this.heard.add(tell);
      if (value.now !== this.now) tell(this.now);
      return () => void this.heard.delete(tell);
    }, []);
    return value.now;
  }
}

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = new Shared<Theme>(THEMES.find((one) => one === remembered("theme")) ?? "system");
export const language = new Shared<Language>(firstLanguage());

export function chooseTheme(chosen: Theme): void {
  remember("theme", chosen);
  theme.set(chosen);
  applyTheme();
}

/** Whether the page is dark now, for what style sheets do not reach. */
export const dark = new Shared<boolean>(isDark());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dark.set(isDark()));

export function chooseLanguage(chosen: Language): void {
  remember("language", chosen);
  document.documentElement.lang = chosen;
  language.set(chosen);
}

export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
  dark.set(isDark());
}

function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function firstLanguage(): Language {
  const chosen = remembered("language") ?? navigator.language;
  return chosen.toLowerCase().startsWith("ko") ? "ko" : "en";
}
