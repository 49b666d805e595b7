import type { MemoryAccount } from '../../base/memory/account.js';
import type { SetOp, VectorMatching } from '../ast.js';
import { seriesBytes } from '../../base/memory/sizes.js';
import type { Columns } from './columns.js';
import { anyPresent, bySignature, signatureOf } from './matching.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { MetricRowCollector } from './row-collector.js';
import type { SeriesRow } from './types.js';

/** `and`, `unless` and `or`: whether a sample is kept depends on the samples with the same signature on the other side at that time. */
export async function setOperation(
  op: SetOp,
  matching: VectorMatching | undefined,
  left: readonly SeriesRow[],
  right: readonly SeriesRow[],
  { count }: Columns,
  { memory, pacer }: { readonly memory: MemoryAccount; readonly pacer: Pacer },
): Promise<readonly SeriesRow[]> {
  const signature = signatureOf(matching);
  const out = new MetricRowCollector(count, memory);
  const keep = async (
    rows: readonly SeriesRow[],
    others: readonly SeriesRow[],
    wanted: 'matched' | 'unmatched',
  ): Promise<void> => {
    const groups = new Map<string, Uint8Array>();
    for (const [key, group] of await bySignature(others, signature, { memory, pacer })) {
      memory.charge(seriesBytes(count, 1), 'the values of series');
      groups.set(key, await anyPresent(group, count, pacer));
    }
    const wantedByte = wanted === 'matched' ? 1 : 0;
    for (const { labels, values, present } of rows) {
      const matched = groups.get(signature(labels).key);
      for (let column = 0; column < count; column += 1) {
        if (present[column] !== 1 || (matched?.[column] ?? 0) !== wantedByte) continue;
        out.put(labels, column, values[column] ?? 0);
      }
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  };
  switch (op) {
    case 'and':
      await keep(left, right, 'matched');
      break;
    case 'unless':
      await keep(left, right, 'unmatched');
      break;
    case 'or':
      await keep(left, [], 'unmatched');
      await keep(right, left, 'unmatched');
      break;
  }
  return out.rows(pacer);
}
