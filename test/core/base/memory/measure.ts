/** Run by estimates.test.ts with --expose-gc: evaluates a query and prints its estimated and its real memory use, step by step. */
import { LabelSet } from '../../../../core/base/label-set.js';
import { parseQuery } from '../../../../core/logql/index.js';
import {
  defaultMetricLimits,
  entryLeafSource,
  evaluateMetric,
  type EntrySource,
} from '../../../../core/logql/metric/index.js';
import { MemoryAccount, type MemoryUse } from '../../../../core/base/memory/account.js';
import { noWorkers } from '../../logql/lines-here.js';

const stepBytes = 4 * 1024 * 1024;
const [query = '', streamsText = '1', linesText = '1', stepsText = '1'] = process.argv.slice(2);
const [streams, lines, steps] = [streamsText, linesText, stepsText].map(Number);
const collect = globalThis.gc;
if (collect === undefined) throw new Error('run with --expose-gc');

function heapNow(): number {
  collect?.();
  collect?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Compares the estimate with the heap after every few megabytes charged. */
class ComparedAccount extends MemoryAccount {
  readonly comparisons: (readonly [estimated: number, real: number])[] = [];
  #next = stepBytes;

  override charge(bytes: number, kind: MemoryUse): void {
    super.charge(bytes, kind);
    if (this.used < this.#next) return;
    this.#next = this.used + stepBytes;
    // The last charge is not allocated yet.
    this.comparisons.push([this.used - bytes, heapNow() - base]);
  }
}

const source: EntrySource = {
  async *entries() {
    for (let stream = 0; stream < (streams ?? 0); stream += 1) {
      const labels = LabelSet.from([
        ['app', 'measured'],
        ['pod', `pod-${stream}-of-a-deployment-with-a-long-name`],
      ]);
      const batch = Array.from({ length: lines ?? 0 }, (_none, line) => ({
        stream: labels,
        structuredMetadata: LabelSet.empty,
        timestampNs: BigInt(1 + line * 7 + (stream % 5)) * 1_000_000_000n,
        line: `id=id-${stream}-${line} level=info took=${line}`,
      }));
      yield batch;
      await Promise.resolve();
    }
  },
};

const expr = parseQuery(query);
if (expr.kind === 'log') throw new Error('not a metric query');
const grid = { kind: 'range', startMs: 0, endMs: (steps ?? 1) * 1000, stepMs: 1000 } as const;
const signal = new AbortController().signal;
const base = heapNow();
const memory = new ComparedAccount(0);
const limits = { ...defaultMetricLimits, maxSeries: 0, memory };
await evaluateMetric(expr, grid, entryLeafSource(source, noWorkers), limits, signal);
console.log(JSON.stringify(memory.comparisons));
