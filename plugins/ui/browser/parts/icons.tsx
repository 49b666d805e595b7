import type { JSX } from 'preact';

/** Icons of 16 pixels, by name. */
const shapes = {
  run: 'M5 3.5v9l7.5-4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  live: 'M8 8h.01M5.2 10.8a4 4 0 0 1 0-5.6M10.8 5.2a4 4 0 0 1 0 5.6M3 13A7 7 0 0 1 3 3M13 3a7 7 0 0 1 0 10',
  pause: 'M6 4v8M10 4v8',
  labels: 'M2.5 7.5v-5h5l6 6-5 5zM5.5 5.5h.01',
  fields: 'M3 4h4M3 8h8M3 12h6M9.5 4h.01',
  hide: 'M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4zM3 13 13 3',
  history: 'M3 3v3h3M3.3 6A5.3 5.3 0 1 1 2.7 8.6M8 5.5V8.5l2 1.2',
  format: 'M3 4h10M3 8h6M3 12h8',
  copy: 'M6 6h7v7H6zM10 3H3v7',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  plus: 'M8 4v8M4 8h8',
  minus: 'M4 8h8',
  close: 'M4 4l8 8M12 4l-8 8',
  context: 'M3 3h10M3 13h10M3 8h6M11 6.5 13 8l-2 1.5',
  wrap: 'M3 4h10M3 8h8a2.2 2.2 0 0 1 0 4.4H8M9.6 10.8 8 12.4 9.6 14M3 12h2',
  chevron: 'M6 4l4 4-4 4',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3.2l2.2 1.3',
  left: 'M10 4 6 8l4 4',
  zoomOut: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1M5 7h4',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3a1.8 1.8 0 1 1 2.5 1.7c-.5.3-.8.6-.8 1.2M8 11.3h.01',
  share:
    'M6 9.5 10 6.5M6 6.5l4 3M4.3 9.7a1.8 1.8 0 1 0 0-3.5 1.8 1.8 0 0 0 0 3.5zM11.7 6.5a1.8 1.8 0 1 0 0-3.5 1.8 1.8 0 0 0 0 3.5zM11.7 13a1.8 1.8 0 1 0 0-3.5 1.8 1.8 0 0 0 0 3.5z',
  settings: 'M3 5h5M12 5h1M3 11h1M8 11h5M10 3.4v3.2M6 9.4v3.2',
  save: 'M4 2.5h8v11L8 10.6 4 13.5z',
  outside: 'M9 3h4v4M13 3 7.5 8.5M11.5 9v4H3V4.5h4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1',
  light:
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  dark: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  system: 'M2.5 3.5h11v7h-11zM6 13h4M8 10.5V13',
  hint: 'M6 12.5h4M6.5 14h3M8 2a4.2 4.2 0 0 0-2.4 7.6c.4.3.6.8.7 1.4h3.4c.1-.6.3-1.1.7-1.4A4.2 4.2 0 0 0 8 2z',
} as const;

export type IconName = keyof typeof shapes;

/** An icon beside words, hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
