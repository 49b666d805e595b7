import { writeSync } from 'node:fs';
import bunyan from 'bunyan';
import { causesOf } from '../../base/errors/causes.js';
import type { LogFields, Logger } from '../../base/logger.js';
import type { TelemetryOptions } from '../../base/options.gen.js';
import { Secrets } from '../../base/secrets.js';
import type { MeterRegistry } from './meters.js';
import { logMetrics } from './metrics-table.js';
import type { RequestObserver } from './request-log.js';

/** The destination of log lines, such as stdout. */
export interface LogDestination {
  /** Its file descriptor, if any, for the last lines of a process. */
  readonly fd?: number;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  /** Writes a text; `done` is called when it is written, or with the error. */
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/** The reason for lost lines: the destination is too slow, or it fails (a full disk, a closed pipe). */
export type LossReason = 'buffer_full' | 'write_failed';

interface LogWriterSettings {
  /** True to write between turns of the event loop, in few large writes; otherwise every line is written immediately. */
  readonly isBuffered: boolean;
  /** Creates the record that reports lost lines. */
  readonly lostLine: (count: number) => string;
  readonly onLost: (count: number, reason: LossReason) => void;
  readonly maxBytes?: number;
  /**
   * True if other processes write to the same destination: lines are then written in pieces that a pipe accepts atomically, so that lines
   * are not interleaved.
   */
  readonly isShared?: boolean;
}

const maxBufferedBytes = 4 * 1024 * 1024;
const chunkBytes = 64 * 1024;
/** Maximum number of bytes that Linux writes to a pipe atomically (PIPE_BUF). */
const pipeBytes = 4_096;

/**
 * Writes formatted log lines; never throws. One write is in progress at a time; later lines are buffered up to a limit. Lines beyond the
 * limit, and those of a failed write, are counted, and reported in the log once it can be written again.
 */
export class LogWriter {
  readonly #destination: LogDestination;
  readonly #settings: LogWriterSettings;
  #lines: string[] = [];
  #bytes = 0;
  /** Number of lost lines not yet reported in the log. */
  #lost = 0;
  #isWriting = false;
  #isScheduled = false;
  /** True if the last write failed, so that it may have left a partial line. */
  #mayHavePartialLine = false;

  constructor(destination: LogDestination, settings: LogWriterSettings) {
    this.#destination = destination;
    this.#settings = settings;
  }

  write(line: string): void {
    const { isBuffered, maxBytes = maxBufferedBytes } = this.#settings;
    if (this.#bytes + line.length > maxBytes) {
      this.#lose(1, 'buffer_full');
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    if (isBuffered && this.#bytes < chunkBytes) this.#schedule();
    else this.flush();
  }

  /** Writes the buffer, unless a write is in progress, which flushes when it ends. */
  flush(): void {
    if (this.#isWriting || this.#lines.length === 0) return;
    const reported = this.#lost;
    const { text, count } = this.#take();
    this.#isWriting = true;
    this.#destination.write(text, (error) => {
      this.#isWriting = false;
      this.#mayHavePartialLine = error instanceof Error;
      if (this.#mayHavePartialLine) {
        this.#lost += reported;
        this.#lose(count, 'write_failed');
      }
      if (this.#lines.length === 0) return;
      if (this.#settings.isShared === true) this.flush();
      else this.#schedule();
    });
  }

  /** Writes the buffer before returning, as far as possible. */
  flushSync(): void {
    const { fd } = this.#destination;
    if (fd === undefined) {
      this.flush();
      return;
    }
    while (this.#lines.length > 0) writeAll(fd, Buffer.from(this.#take().text));
  }

  /** The next piece to write, and its number of buffered lines. */
  #take(): { readonly text: string; readonly count: number } {
    // The line break ends a partial line left by a full disk.
    const head = this.#mayHavePartialLine ? '\n' : '';
    const tail = this.#lost > 0 ? this.#settings.lostLine(this.#lost) : '';
    this.#lost = 0;
    const count =
      this.#settings.isShared === true ? this.#wholeLines(head.length + tail.length) : this.#lines.length;
    const taken = this.#lines.splice(0, count).join('');
    this.#bytes -= taken.length;
    return { text: head + taken + tail, count };
  }

  /** Number of lines that a pipe accepts atomically, at least one. */
  #wholeLines(others: number): number {
    let bytes = others;
    const over = this.#lines.findIndex((line) => (bytes += Buffer.byteLength(line)) > pipeBytes);
    return over < 0 ? this.#lines.length : Math.max(1, over);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  #lose(count: number, reason: LossReason): void {
    this.#lost += count;
    this.#settings.onLost(count, reason);
  }
}

/** Number of attempts on a pipe with a slow reader, and the pause between them. */
const tries = 20;
const pauseMs = 10;

function writeAll(fd: number, bytes: Buffer): void {
  let written = 0;
  for (let attempt = 0; attempt < tries && written < bytes.length; attempt += 1) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      if (!isFull) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

/** The format of log records: JSON for programs, text for people. */
type LogForm = NonNullable<TelemetryOptions['logFormat']>;

/** The configured format; by default text on a terminal and JSON elsewhere. */
export function logFormOf(
  { logFormat }: Pick<TelemetryOptions, 'logFormat'>,
  { isTTY }: LogDestination,
): LogForm {
  return logFormat ?? (isTTY === true ? 'text' : 'json');
}

/** A record with the field names of docs/protocol/operation.md#structured-logs, in output order. */
type LogRecord = Readonly<Record<string, unknown>>;

/** A record as one line, without secrets. */
function logLine(record: LogRecord, form: LogForm, secrets: Secrets): string {
  const text = JSON.stringify(record, bigintAsText);
  const json = secrets.mayBeIn(text) ? withoutSecrets(text, secrets) : text;
  return form === 'json' ? `${json}\n` : textLine(json);
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

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Creates the loggers of one process, which share a level and a writer. */
export interface LoggerFactory {
  /** A logger whose records carry `component`. */
  component(name: string): Logger;
}

/** Severities by bunyan level, with OpenTelemetry's numbers. */
const severities: ReadonlyMap<number, readonly [text: string, number: number]> = new Map([
  [bunyan.TRACE, ['TRACE', 1]],
  [bunyan.DEBUG, ['DEBUG', 5]],
  [bunyan.INFO, ['INFO', 9]],
  [bunyan.WARN, ['WARN', 13]],
  [bunyan.ERROR, ['ERROR', 17]],
  [bunyan.FATAL, ['FATAL', 21]],
]);

/** Fields that bunyan adds to every record; structured logs rename some and omit the rest. */
const bunyanFields: ReadonlySet<string> = new Set([
  'name',
  'hostname',
  'pid',
  'level',
  'component',
  'msg',
  'time',
  'v',
  'src',
]);

/** Creates the loggers of a process, based on bunyan. `fields` are in every record; `secrets` are removed from all. */
export function createLoggers(
  level: LogLevel,
  writer: Pick<LogWriter, 'write'>,
  fields: LogFields = {},
  secrets = new Secrets(),
  form: LogForm = 'json',
): LoggerFactory {
  const root = bunyan.createLogger({
    ...fields,
    name: 'ref-proxy',
    level,
    // bunyan passes its record object to a raw stream; nothing else writes to this one.
    streams: [
      {
        type: 'raw',
        level,
        stream: { write: (record: unknown) => writer.write(logLine(recordOf(record), form, secrets)) },
      },
    ],
  });
  return {
    component: (name) => {
      const log = root.child({ component: name }, true);
      return {
        debug: (body, fields) => log.debug(plain(fields), '%s', body),
        info: (body, fields) => log.info(plain(fields), '%s', body),
        warn: (body, fields) => log.warn(plain(fields), '%s', body),
        error: (body, fields) => log.error(plain(fields), '%s', body),
      };
    },
  };
}

/** Copies fields for bunyan, which modifies its input; errors become their text and stack. */
function plain(fields: LogFields = {}): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields))
    copy[name] = value instanceof Error ? describeError(value) : value;
  return copy;
}

/** An error as an object, including its causes. */
function describeError(error: Error): Record<string, unknown> {
  const described = [error, ...causesOf(error)].map(({ name, message, stack }) => ({
    type: name,
    message,
    stack,
  }));
  return described.reduceRight<Record<string, unknown>>(
    (cause, outer) => ({ ...outer, ...(Object.keys(cause).length === 0 ? {} : { cause }) }),
    {},
  );
}

function recordOf(record: unknown): LogRecord {
  const source = new Map(Object.entries(record ?? {}));
  const level: unknown = source.get('level');
  const time: unknown = source.get('time');
  const [severity, number] = severities.get(typeof level === 'number' ? level : bunyan.INFO) ?? ['INFO', 9];
  const fields = [...source].filter(([name]) => !bunyanFields.has(name));
  return {
    timestamp: (time instanceof Date ? time : new Date()).toISOString(),
    'severity.text': severity,
    'severity.number': number,
    body: source.get('msg'),
    component: source.get('component'),
    ...Object.fromEntries(fields),
  };
}

/** The record that reports lost lines. */
export function lostLinesRecord(count: number, form: LogForm): string {
  const record = recordOf({
    level: bunyan.WARN,
    msg: 'log records were lost: the log destination refused them (is its disk full?) or did not keep up',
    component: 'proxy',
    'log.records_lost': count,
  });
  return logLine(record, form, new Secrets());
}

/** Creates the loggers of a process with their writer, which counts lost lines. `fields` are in every record. */
export function createLogging(
  telemetry: TelemetryOptions,
  secrets: Secrets,
  registry: MeterRegistry,
  logTo: LogDestination,
  how: { readonly isBuffered: boolean; readonly isShared: boolean; readonly fields?: LogFields },
): { readonly writer: LogWriter; readonly loggers: LoggerFactory } {
  const form = logFormOf(telemetry, logTo);
  const { log_records_lost_total: lost } = registry.create(logMetrics);
  const writer = new LogWriter(logTo, {
    isBuffered: how.isBuffered,
    isShared: how.isShared,
    lostLine: (count) => lostLinesRecord(count, form),
    onLost: (count, reason) => lost.add(count, { reason }),
  });
  return { writer, loggers: createLoggers(telemetry.logLevel, writer, how.fields, secrets, form) };
}

/** Wraps a plugin's observer: its errors are logged and do not affect requests. */
export function harmless(observer: RequestObserver, log: Logger): RequestObserver {
  const safely = (tell: () => void): void => {
    try {
      tell();
    } catch (error) {
      log.error('a request observer failed', { error });
    }
  };
  return {
    started: (record) => safely(() => observer.started(record)),
    finished: (record, status, durationMs) => safely(() => observer.finished(record, status, durationMs)),
  };
}
