import type { JSX } from "preact";
import { language } from "../choices";

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const words = new Intl.RelativeTimeFormat(language.value, { numeric: "auto" });
  for (const [unit, length] of STEPS) if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  return words.format(0, "second");
}

export function moment(at: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

export function day(at: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "full" }).format(new Date(at));
}

export function clock(at: string): string {
  return new Intl.DateTimeFormat(language.value, { timeStyle: "short" }).format(new Date(at));
}

export function month(name: string): string {
  return new Intl.DateTimeFormat(language.value, { year: "numeric", month: "long", timeZone: "UTC" }).format(new Date(`${name}-15T00:00:00Z`));
}

export function number(value: number): string {
  return new Intl.NumberFormat(language.value).format(value);
}

export function bytes(value: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
  const step = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  return new Intl.NumberFormat(language.value, { style: "unit", unit: units[step]!, unitDisplay: "narrow", maximumFractionDigits: 1 }).format(value / 1000 ** step);
}

export function Ago({ at }: { at: string }): JSX.Element {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
