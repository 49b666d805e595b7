import { parseDuration } from '../../base/time/option-duration.js';

/** A text format for schemas: its test, and how messages describe it. */
export interface TextFormat {
  readonly test: (text: string) => boolean;
  readonly expected: string;
}

/** The formats that schemas may use. */
export const textFormats: ReadonlyMap<string, TextFormat> = new Map([
  [
    'duration',
    {
      test: (text: string) => parseDuration(text) !== undefined,
      expected: 'a duration such as "30s", "5m" or "1h30m"',
    },
  ],
  [
    'duration-long',
    {
      test: (text: string) => parseDuration(text, 'long') !== undefined,
      expected: 'a duration such as "30s", "12h" or "90d"',
    },
  ],
  ['listen-address', { test: isListenAddress, expected: 'an address such as ":3100" or "127.0.0.1:3100"' }],
  ['http-url', { test: isHttpUrl, expected: 'an http or https address such as "http://localhost:9428"' }],
]);

/** `host:port`, `:port` or `[v6 address]:port`; port 0 lets the system choose. */
function isListenAddress(text: string): boolean {
  const match = /^(?:\[[0-9A-Fa-f:.%a-z]+\]|[^\s:[\]/]*):(\d{1,5})$/.exec(text);
  return match !== null && Number(match[1]) <= 65535;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
