/**
 * Like `answers`, for heterogeneous logs: long lines, many streams, few repeats. Two concurrent requests, tenant 31:0. The embedded
 * backend, used without `BACKEND_URL`, gets fewer lines.
 */
import { mixedBatches, mixedEndMs, mixedStartMs } from './mixed-logs.js';
import { shapes } from './shapes-table.js';
import { compareWithBackend } from './side-by-side.js';

const lines = process.env['BACKEND_URL'] === undefined ? 60_000 : 430_000;

export function run(): Promise<void> {
  return compareWithBackend({
    name: 'shapes',
    summary: `${lines} lines over 3 h in 77 streams`,
    account: '31',
    lines,
    batches: () => mixedBatches(lines),
    startMs: mixedStartMs,
    endMs: mixedEndMs,
    shapes,
    rounds: Number(process.env['BENCH_ROUNDS'] ?? 15),
    warmRounds: 3,
    atOnce: 2,
  });
}
