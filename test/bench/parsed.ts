/**
 * Like `answers`, for logs ingested with parsed fields: rows without a line, whose fields are columns in VictoriaLogs. Tenant 32:0. The
 * embedded backend, used without `BACKEND_URL`, gets fewer rows.
 */
import { parsedBatches, parsedEndMs, parsedStartMs } from './parsed-logs.js';
import { shapes } from './parsed-table.js';
import { compareWithBackend } from './side-by-side.js';

const lines = process.env['BACKEND_URL'] === undefined ? 60_000 : 1_000_000;

export function run(): Promise<void> {
  return compareWithBackend({
    name: 'parsed',
    summary: `${lines} rows of fields over 6 h in 60 streams`,
    account: '32',
    lines,
    batches: () => parsedBatches(lines),
    startMs: parsedStartMs,
    endMs: parsedEndMs,
    shapes,
    rounds: Number(process.env['BENCH_ROUNDS'] ?? 15),
    warmRounds: 5,
    atOnce: 1,
  });
}
