import type { TelemetryOptions } from '../../base/options.gen.js';
import type { Secrets } from '../../base/secrets.js';
import type { LogDestination } from './log-writer.js';

/** The form of log records: JSON for programs, text for people. */
export type LogForm = NonNullable<TelemetryOptions['logFormat']>;

/** The form that is asked for; otherwise text on a terminal and JSON elsewhere. */
export function logFormOf(
  { logFormat }: Pick<TelemetryOptions, 'logFormat'>,
  { isTTY }: LogDestination,
): LogForm {
  return logFormat ?? (isTTY === true ? 'text' : 'json');
}

/** A record before it has a form. */
export interface LogRecord {
  readonly time: Date;
  readonly severity: string;
  readonly number: number;
  readonly body: unknown;
  /** In the order in which they are written, the component first. */
  readonly fields: ReadonlyMap<string, unknown>;
}

/** A record as one line, without secrets. */
export function logLine(record: LogRecord, form: LogForm, secrets: Secrets): string {
  const text = jsonOf(record);
  const json = secrets.mayBeIn(text) ? withoutSecrets(text, secrets) : text;
  return form === 'json' ? `${json}\n` : textLine(json);
}

/** The field names of docs/protocol/operation.md#structured-logs. */
function jsonOf({ time, severity, number, body, fields }: LogRecord): string {
  const line = {
    timestamp: time.toISOString(),
    'severity.text': severity,
    'severity.number': number,
    body,
    ...Object.fromEntries(fields),
  };
  return JSON.stringify(line, bigintAsText);
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** The same JSON with nothing secret in its strings and names. */
function withoutSecrets(json: string, { hide }: Secrets): string {
  return JSON.stringify(
    JSON.parse(json, (_name, value: unknown) => {
      if (typeof value === 'string') return hide(value);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [hide(name), member as unknown]),
      );
    }),
  );
}

/** Fields that a line of text begins with, or says in words. */
const shownInHead: ReadonlySet<string> = new Set(['timestamp', 'severity.text', 'severity.number', 'body']);

/** Time, level and message, then `name=value` for each field. */
function textLine(json: string): string {
  const fields = new Map(Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>));
  const textOf = (name: string): string => {
    const value = fields.get(name);
    return typeof value === 'string' ? value : JSON.stringify(value ?? '');
  };
  const head = `${textOf('timestamp')} ${textOf('severity.text').padEnd(5)} ${printable(textOf('body'))}`;
  const pairs = [...fields].flatMap(([name, value]) =>
    shownInHead.has(name) ? [] : [` ${printable(name)}=${valueText(value)}`],
  );
  return `${head}${pairs.join('')}\n`;
}

/** Bare where it is one word, otherwise as JSON. */
function valueText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"\\=]+$/.test(value) && !controls.test(value);
  return isWord ? value : printable(JSON.stringify(value));
}

/** Control characters, and those that change the direction of the text behind them: a terminal would act on them. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const allControls = new RegExp(controls, 'g');
const escapes: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function printable(text: string): string {
  return text.replace(
    allControls,
    (found) => escapes.get(found) ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
