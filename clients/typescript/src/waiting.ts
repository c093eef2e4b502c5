const FIRST = 50;
const LONGEST = 5000;

/** Milliseconds to wait before another attempt: longer each time, and never the same for two clients. */
export function backoff(attempt: number): number {
  return Math.min(LONGEST, FIRST * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Waits, unless the signal ends it with its reason. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
