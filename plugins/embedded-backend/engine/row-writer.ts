import { MapRow, type RowView } from '../logsql/index.js';
import { copyFields } from '../../../core/victoria/logsql/row.js';
import type { FaultRule } from '../faults.js';
import type { ResponseWriter } from '../http/response.js';
import { rowJson } from './row-json.js';
import type { RowConsumer } from './run.js';

/** Writes rows as NDJSON as they arrive. Empty fields are omitted, as are rows without any fields. */
export class JsonRowWriter implements RowConsumer {
  readonly #out: ResponseWriter;
  readonly #fault: FaultRule | undefined;
  #trickle: string[] = [];
  #rows = 0;
  #cut = false;

  constructor(out: ResponseWriter, fault: FaultRule | undefined) {
    this.#out = out;
    this.#fault = fault;
  }

  push(row: RowView): boolean {
    const line = rowJson(row);
    if (line === '') return true;
    const cutAfter = this.#fault?.cutAfterRows;
    if (cutAfter !== undefined && this.#rows >= cutAfter) {
      this.#cut = true;
      return false;
    }
    this.#rows++;
    if (this.#fault?.trickleMs === undefined) this.#out.write(line);
    else this.#trickle.push(line);
    return true;
  }

  async drain(): Promise<void> {
    for (const line of this.#trickle.splice(0)) {
      this.#out.write(line);
      await this.#out.flush();
    }
    if (!this.#cut) {
      await this.#out.flushLarge();
      return;
    }
    await this.#out.flush();
    this.#out.cut();
  }
}

/** Collects rows for CSV: the header needs all columns, so writing starts after the last row. */
export class CsvRowWriter implements RowConsumer {
  readonly #out: ResponseWriter;
  readonly #columns = new Set<string>();
  readonly #rows: RowView[] = [];

  constructor(out: ResponseWriter) {
    this.#out = out;
  }

  push(row: RowView): boolean {
    for (const name of row.fieldNames()) this.#columns.add(name);
    this.#rows.push(row);
    return true;
  }

  /** Writes header and rows. */
  finish(): void {
    if (this.#rows.length === 0) return;
    const columns = [...this.#columns];
    this.#out.write(`${columns.map(csvValue).join(',')}\n`);
    for (const row of this.#rows)
      this.#out.write(`${columns.map((name) => csvValue(row.get(name))).join(',')}\n`);
  }
}

function csvValue(text: string): string {
  return /[",\r\n]|^[ \t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Collects result rows, for endpoints that put them into one JSON document. */
export class RowCollector implements RowConsumer {
  readonly rows: MapRow[] = [];

  push(row: RowView): boolean {
    this.rows.push(new MapRow(copyFields(row), row.timeNs));
    return true;
  }
}
