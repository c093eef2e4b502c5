/** The letter of a key as it is printed on it: with Caps Lock, and while Hangul is written, N is still N. */
export function letter({ key, code }: KeyboardEvent): string {
  return (/^[a-z]$/i.test(key) ? key : code.replace(/^Key/, "")).toLowerCase();
}
