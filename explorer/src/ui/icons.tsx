import type { JSX } from "preact";

/** Strokes on a grid of 24, drawn for this page. */
const PATHS = {
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20",
  timeline: "M12 21a9 9 0 1 0-9-9M3 5v7h7M12 7.5V12l3 2",
  graph: "M7 17.5 11.2 8M13.6 7.6l4.2 6.6M8.6 18.6l7.4-1.6M6 21a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm6-13a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 12 8Zm6.5 10.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Z",
  review: "M4 6h10M4 12h7M4 18h5M14 16l2.5 2.5L21 13",
  scopes: "M4 6.5A1.5 1.5 0 0 1 5.5 5H10l2 2.5h6.5A1.5 1.5 0 0 1 20 9v8.5a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 17.5v-11Z",
  transfer: "M7 20V6M3.5 9.5 7 6l3.5 3.5M17 4v14m-3.5-3.5L17 18l3.5-3.5",
  health: "M3 12.5h4l2.5-6 4 12 2.5-6h5",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.5 10 17.5 19.5 7",
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  refresh: "M20 11a8 8 0 0 0-14.3-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14.3 4L20 15M20 20v-5h-5",
  minus: "M5 12h14",
  trash: "M4 7h16M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10 11v5M14 11v5",
  edit: "M4 20h4L19 9l-4-4L4 16v4ZM13 7l4 4",
  link: "M9.5 14.5l5-5M11 6.5l1.5-1.5a4.2 4.2 0 0 1 6 6L17 12.5M13 17.5 11.5 19a4.2 4.2 0 0 1-6-6L7 11.5",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  down: "M6 9.5l6 6 6-6",
  right: "M9.5 6l6 6-6 6",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  key: "M14.5 14a4.5 4.5 0 1 0-4.3-3.2L3.5 17.5V21H7v-2.5h2.5V16l1.7-1.7c.9.5 2 .7 3.3-.3ZM15.5 8.5h.01",
  plus: "M12 5v14M5 12h14",
  warn: "M12 4 2.5 20h19L12 4ZM12 10.5v4M12 17.5h.01",
  download: "M12 4v11M7.5 11l4.5 4.5L16.5 11M4.5 20h15",
  filter: "M4 6h16M7 12h10M10 18h4",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  pause: "M9 6v12M15 6v12",
  play: "M8 5.5v13l10.5-6.5L8 5.5Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export function Mark({ size = 26 }: { size?: number }): JSX.Element {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#4b3fb0" />
      <path d="M10 22 16 10l7 8" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" />
      <circle cx="10" cy="22" r="3.2" fill="#ffd166" />
      <circle cx="16" cy="10" r="3.2" fill="#fff" />
      <circle cx="23" cy="18" r="3.2" fill="#9be7d8" />
    </svg>
  );
}
