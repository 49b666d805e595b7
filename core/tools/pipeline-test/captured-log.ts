import type { LogDestination } from '../../kernel/telemetry/logger.js';

/** A written log record by field name. */
export type LogRecord = ReadonlyMap<string, unknown>;

/** Captures log lines instead of stdout and lets a test wait for one. */
export class CapturedLog implements LogDestination {
  readonly records: LogRecord[] = [];
  #waiting: {
    readonly wanted: (record: LogRecord) => boolean;
    readonly found: (record: LogRecord) => void;
  }[] = [];

  write(text: string, done: () => void): void {
    for (const line of text.split('\n')) if (line !== '') this.#add(line);
    done();
  }

  /** The first matching record, already written or still to come. */
  async find(wanted: (record: LogRecord) => boolean): Promise<LogRecord> {
    const known = this.records.find(wanted);
    if (known !== undefined) return known;
    return new Promise((found) => this.#waiting.push({ wanted, found }));
  }

  #add(line: string): void {
    const parsed: unknown = JSON.parse(line);
    const record = new Map(Object.entries(parsed ?? {}));
    this.records.push(record);
    this.#waiting = this.#waiting.filter(({ wanted, found }) => {
      if (!wanted(record)) return true;
      found(record);
      return false;
    });
  }
}
