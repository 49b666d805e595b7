import bunyan from 'bunyan';
import type { LogFields, Logger } from '../../base/logger.js';
import { Secrets } from '../../base/secrets.js';
import { causesOf } from '../../base/errors/causes.js';
import { logLine, type LogForm, type LogRecord } from './log-line.js';
import type { LogWriter } from './log-writer.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Creates the loggers of one process, which share a level and a writer. */
export interface LoggerFactory {
  readonly level: LogLevel;
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
    level,
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
    time: time instanceof Date ? time : new Date(),
    severity,
    number,
    body: source.get('msg'),
    fields: new Map([['component', source.get('component')], ...fields]),
  };
}

/** The record that reports lost lines. */
export function lostLinesRecord(count: number, form: LogForm): string {
  const record: LogRecord = {
    time: new Date(),
    severity: 'WARN',
    number: 13,
    body: 'log records were lost: the log destination refused them (is its disk full?) or did not keep up',
    fields: new Map<string, unknown>([
      ['component', 'proxy'],
      ['log.records_lost', count],
    ]),
  };
  return logLine(record, form, new Secrets());
}
