import type { JSX } from "preact";
import { language } from "../choices";

/** The reader's own variety of the language: it decides how dates are written. */
function locale(): string {
  return navigator.languages.find((one) => one.toLowerCase().startsWith(language.value)) ?? language.value;
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of STEPS) if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  return words.format(0, "second");
}

/** The microsecond before a time of the server, which is finer than a date of the browser. */
export function justBefore(at: string): string {
  const [, whole = at, digits = "000000"] = /^(.*)\.(\d{6})Z$/.exec(at) ?? [];
  if (digits !== "000000") return `${whole}.${String(Number(digits) - 1).padStart(6, "0")}Z`;
  return `${new Date(Date.parse(`${whole}Z`) - 1000).toISOString().slice(0, 19)}.999999Z`;
}

/** The first and the last moment of a day in the clock of this place, as the server has times; what is no day stays as it is. */
export function dayBegins(day: string | undefined, later = 0): string | undefined {
  const [, year, month, date] = /^([12]\d{3})-(\d\d)-(\d\d)$/.exec(day ?? "") ?? [];
  const begins = (more: number) => new Date(Number(year), Number(month) - 1, Number(date) + more);
  return year && begins(0).getDate() === Number(date) && begins(0).getMonth() === Number(month) - 1 ? `${begins(later).toISOString().slice(0, 19)}.000000Z` : day;
}

export function dayEnds(day: string | undefined): string | undefined {
  const next = dayBegins(day, 1);
  return next === undefined || next === day ? day : justBefore(next);
}

export function moment(at: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

export function day(at: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "full" }).format(new Date(at));
}

export function clock(at: string): string {
  return new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(new Date(at));
}

export function month(name: string): string {
  return new Intl.DateTimeFormat(locale(), { year: "numeric", month: "long", timeZone: "UTC" }).format(new Date(`${name}-15T00:00:00Z`));
}

export function number(value: number): string {
  return new Intl.NumberFormat(language.value).format(value);
}

export function bytes(value: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
  const step = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  return new Intl.NumberFormat(locale(), { style: "unit", unit: units[step]!, unitDisplay: "narrow", maximumFractionDigits: 1 }).format(value / 1000 ** step);
}

export function Ago({ at }: { at: string }): JSX.Element {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
