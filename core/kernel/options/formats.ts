import { compileRegExp } from '../../logql/regexp/index.js';
import { parseListenAddress } from '../../base/listen-address.js';
import { parseDuration } from '../../base/time/option-duration.js';
import { parseRfc3339 } from '../../base/time/index.js';

/** A text format for schemas: its test, and its description in messages. */
interface TextFormat {
  readonly test: (text: string) => boolean;
  readonly expected: string;
  /** The reason why a text fails the test, if there is a specific one. */
  readonly why?: (text: string) => string | undefined;
}

const formats: Readonly<Record<string, TextFormat>> = {
  duration: {
    test: (text) => parseDuration(text) !== undefined,
    expected: 'a duration such as "30s", "5m" or "1h30m"',
  },
  'duration-long': {
    test: (text) => parseDuration(text, 'long') !== undefined,
    expected: 'a duration such as "30s", "12h" or "90d"',
  },
  'listen-address': {
    test: (text) => parseListenAddress(text) !== undefined,
    expected: 'an address such as ":3100" or "127.0.0.1:3100"',
  },
  regexp: {
    test: (text) => regexpFault(text) === undefined,
    expected: 'a regular expression in the syntax of RE2',
    why: regexpFault,
  },
  json: { test: (text) => jsonFault(text) === undefined, expected: 'JSON', why: jsonFault },
  'http-url': { test: isHttpUrl, expected: 'an http or https address such as "http://localhost:9428"' },
  rfc3339: {
    test: (text) => parseRfc3339(text) !== undefined,
    expected: 'a time such as "2026-11-01T00:00:00Z"',
  },
  'redis-url': {
    test: (text) => /^rediss?:\/\/[^/?#]+(\/\d*)?$/i.test(text) && URL.canParse(text),
    expected: 'an address such as "redis://:password@localhost:6379/0" or "rediss://cache.example"',
  },
};

/** The formats that schemas may use. */
export const textFormats: ReadonlyMap<string, TextFormat> = new Map(Object.entries(formats));

function regexpFault(text: string): string | undefined {
  return faultOf(() => compileRegExp(text));
}

function jsonFault(text: string): string | undefined {
  return faultOf(() => void JSON.parse(text));
}

function faultOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
