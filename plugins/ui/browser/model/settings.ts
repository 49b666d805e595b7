/** The user's settings for the page itself, stored in the browser. */
export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'browser' | 'utc';

export interface Settings {
  readonly theme: Theme;
  readonly zone: Zone;
  /** True to wrap long lines. */
  readonly wraps: boolean;
  /** True to show live lines with the newest at the bottom. */
  readonly newestLast: boolean;
}

export const usualSettings: Settings = { theme: 'system', zone: 'browser', wraps: true, newestLast: false };

/** Parses stored settings; invalid values become defaults. */
export function parseSettings(text: string | null): Settings {
  try {
    const kept: unknown = JSON.parse(text ?? '');
    if (typeof kept !== 'object' || kept === null) return usualSettings;
    const read = new Map(Object.entries(kept) as [string, unknown][]);
    const [theme, zone, wraps] = [read.get('theme'), read.get('zone'), read.get('wraps')];
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
      zone: zone === 'utc' ? 'utc' : 'browser',
      wraps: wraps !== false,
      newestLast: read.get('newestLast') === true,
    };
  } catch {
    return usualSettings;
  }
}

/** `UTC`, `UTC+01:00`: the offset of a zone at a moment. */
export function zoneName(zone: Zone, ms: number): string {
  const minutes = zone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '−' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
