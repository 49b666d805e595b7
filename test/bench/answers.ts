/**
 * The same questions asked of the proxy and of its backend directly, in turn, as ratios in one run. `BACKEND_URL` asks a real
 * VictoriaLogs (tenant 900:0 is filled when it is empty); without it the embedded backend stands in, which only shows the proxy's part.
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
