/**
 * Sends equivalent queries to the proxy and directly to its backend, alternating, and prints their ratios. `BACKEND_URL` names a real
 * VictoriaLogs (tenant 900:0 is filled if it is empty); by default the embedded backend is used, which shows only the proxy's share of the
 * cost.
 */
import { shapes } from './answers-table.js';
import { sampleBatches, sampleEndMs, sampleStartMs } from './sample-logs.js';
import { compareWithBackend } from './side-by-side.js';

const lines = 457_000;

export function run(): Promise<void> {
  return compareWithBackend({
    name: 'answers',
    summary: `${lines} lines over 6 h in 65 streams`,
    account: '900',
    lines,
    batches: () => sampleBatches(lines),
    startMs: sampleStartMs,
    endMs: sampleEndMs,
    shapes,
    rounds: Number(process.env['BENCH_ROUNDS'] ?? 15),
    warmRounds: 15,
    atOnce: 1,
  });
}
