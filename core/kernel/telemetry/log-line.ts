import type { TelemetryOptions } from '../../base/options.gen.js';
import type { Secrets } from '../../base/secrets.js';
import type { LogDestination } from './log-writer.js';

/** The format of log records: JSON for programs, text for people. */
export type LogForm = NonNullable<TelemetryOptions['logFormat']>;

/** The configured format; by default text on a terminal and JSON elsewhere. */
export function logFormOf(
  { logFormat }: Pick<TelemetryOptions, 'logFormat'>,
  { isTTY }: LogDestination,
): LogForm {
  return logFormat ?? (isTTY === true ? 'text' : 'json');
}

export interface LogRecord {
  readonly time: Date;
  readonly severity: string;
  readonly number: number;
  readonly body: unknown;
  /** Fields in output order, the component first. */
  readonly fields: ReadonlyMap<string, unknown>;
}

/** A record as one line, without secrets. */
export function logLine(record: LogRecord, form: LogForm, secrets: Secrets): string {
  const text = jsonOf(record);
  const json = secrets.mayBeIn(text) ? withoutSecrets(text, secrets) : text;
  return form === 'json' ? `${json}\n` : textLine(json);
}

/** Formats a record with the field names of docs/protocol/operation.md#structured-logs. */
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

/** The same JSON without secrets in its strings and names. */
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

/** Fields that appear at the start of a text line. */
const shownInHead: ReadonlySet<string> = new Set(['timestamp', 'severity.text', 'severity.number', 'body']);

/** Formats a record as time, level and message, followed by `name=value` for each field. */
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

/** A value as text: bare if it is one word, otherwise as JSON. */
function valueText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"\\=]+$/.test(value) && !controls.test(value);
  return isWord ? value : printable(JSON.stringify(value));
}

/** Control characters, and characters that change the direction of text: a terminal would act on them. */
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
