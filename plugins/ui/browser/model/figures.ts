import { formatBytes, formatCount, formatCounted, formatMs } from './format.js';

/** Figures of a read: of one that has run, or of an estimate. Unknown ones are undefined. */
export interface Figures {
  readonly calls: number | undefined;
  readonly rows: number | undefined;
  readonly bytes: number | undefined;
  readonly ms: number | undefined;
}

export const noFigures: Figures = { calls: 0, rows: 0, bytes: 0, ms: 0 };

/** Sums of figures; a sum with an unknown part is unknown. */
export function addFigures(all: readonly Figures[]): Figures {
  const sum = (of: keyof Figures): number | undefined =>
    all.reduce<number | undefined>((before, one) => {
      const value = one[of];
      return before === undefined || value === undefined ? undefined : before + value;
    }, 0);
  return { calls: sum('calls'), rows: sum('rows'), bytes: sum('bytes'), ms: sum('ms') };
}

/** The known figures as short texts: `1,234 rows`, `56.0 kB`, `3 calls`, `12.0 ms`. */
export function figureTexts({ calls, rows, bytes, ms }: Figures): readonly string[] {
  return [
    ...(rows === undefined ? [] : [formatCounted(Math.round(rows), 'row')]),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
    ...(calls === undefined ? [] : [formatCounted(calls, 'call')]),
    ...(ms === undefined ? [] : [`${formatMs(ms)} ms`]),
  ];
}

/** A part as a percentage: `62 %`, `<1 %` for little, `0 %` for nothing. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0 || part <= 0) return '0 %';
  const percent = (part / whole) * 100;
  if (percent < 1) return '<1 %';
  return percent > 99 && percent < 100 ? '>99 %' : `${formatCount(percent)} %`;
}
