import { useEffect, useRef, useState } from "preact/hooks";
import { plain } from "./ui/stored";

/** What was asked of the server and where that stands; an older answer stays visible until the new one is there. */
export interface Asked<T> {
  readonly value: T | null;
  readonly problem: unknown;
  readonly busy: boolean;
  readonly again: () => void;
  readonly set: (value: T) => void;
}

export function useAsked<T>(ask: (signal: AbortSignal) => Promise<T>, about: readonly unknown[]): Asked<T> {
  const [state, set] = useState<{ value: T | null; problem: unknown; busy: boolean }>({ value: null, problem: null, busy: true });
  const [turn, next] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    set((before) => ({ ...before, problem: null, busy: true }));
    latest.current(stop.signal).then(
      (value) => stop.signal.aborted || set({ value, problem: null, busy: false }),
      (problem: unknown) => stop.signal.aborted || set({ value: null, problem, busy: false }),
    );
    return () => stop.abort();
  }, [...about, turn]);
  return {
    ...state,
    again: () => next((now) => now + 1),
    set: (value) => set({ value, problem: null, busy: false }),
  };
}

/** The value as it was when it last rested for so long. */
export function useRested<T>(value: T, milliseconds: number): T {
  const [rested, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return rested;
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${plain(title)} · Polymnia` : "Polymnia";
  }, [title]);
}
