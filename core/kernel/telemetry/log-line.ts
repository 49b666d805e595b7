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
  const safe = (_name: string, value: unknown): unknown => {
    if (typeof value === 'string') return secrets.hide(value);
    return typeof value === 'bigint' ? String(value) : value;
  };
  return form === 'json' ? jsonLine(record, safe) : textLine(record, safe);
}

type Replacer = (name: string, value: unknown) => unknown;

/** The field names of docs/protocol/operation.md#structured-logs. */
function jsonLine({ time, severity, number, body, fields }: LogRecord, safe: Replacer): string {
  const line = {
    timestamp: time.toISOString(),
    'severity.text': severity,
    'severity.number': number,
    body,
    ...Object.fromEntries(fields),
  };
  return `${JSON.stringify(line, safe)}\n`;
}

/** Time, level and message, then `name=value` for each field. */
function textLine({ time, severity, body, fields }: LogRecord, safe: Replacer): string {
  const head = `${time.toISOString()} ${severity.padEnd(5)} ${printable(String(safe('', body)))}`;
  const pairs = [...fields].flatMap(([name, value]) =>
    value === undefined ? [] : [` ${printable(name)}=${valueText(value, safe)}`],
  );
  return `${head}${pairs.join('')}\n`;
}

/** Bare where it is one word, otherwise as JSON. */
function valueText(value: unknown, safe: Replacer): string {
  const shown = safe('', value);
  const isWord = typeof shown === 'string' && /^[^\s"\\=]+$/.test(shown) && !controls.test(shown);
  return isWord ? shown : printable(JSON.stringify(shown, safe));
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
