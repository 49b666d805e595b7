import type { StreamsAnswer } from '../wire/answer/types.js';
import type { Tenant } from '../base/caller.js';
import { LabelSet } from '../base/label-set.js';

const firstNs = 1_793_491_200_000_000_000n;

/** A tenant as tenancy would resolve it. */
export function makeTenant(id = 'test', change: Partial<Tenant> = {}): Tenant {
  return { id, accountId: 0, projectId: 0, streamField: undefined, forwardHeader: true, ...change };
}

/** An answer with one stream of the given lines, a second apart, newest first. */
export function makeLogAnswer(
  labels: Readonly<Record<string, string>>,
  lines: readonly string[],
): StreamsAnswer {
  const entries = lines.map((line, index) => ({
    timestampNs: firstNs + BigInt(lines.length - index) * 1_000_000_000n,
    line,
    structuredMetadata: LabelSet.empty,
    parsed: LabelSet.empty,
  }));
  return {
    kind: 'streams',
    streams: lines.length === 0 ? [] : [{ labels: LabelSet.from(Object.entries(labels)), entries }],
    warnings: [],
    stats: {
      linesProcessed: lines.length,
      bytesProcessed: 0,
      entriesReturned: lines.length,
      postFilterLines: lines.length,
      structuredMetadataBytes: 0,
      execTimeMs: 0,
      splits: 1,
    },
  };
}
