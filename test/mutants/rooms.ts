import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';

/** A part of the code where a wrong line would give wrong answers without an error. */
export interface MutatedRoom {
  readonly name: string;
  /** Sources to mutate; one declaration of a file as `core/engine/plan/logs.ts#RowScope`. */
  readonly sources: readonly string[];
  /** Test files that must notice. */
  readonly tests: readonly string[];
}

export const mutatedRooms: readonly MutatedRoom[] = [
  {
    name: 'cache-keys',
    sources: [
      'core/cache/keys.ts#createCacheKeys',
      'core/cache/keys.ts#tenantPart',
      'core/cache/keys.ts#tenantOf',
      'core/cache/keys.ts#callerKey',
      'core/cache/keys.ts#createFingerprint',
      'core/cache/keys.ts#pairOf',
      'core/cache/keys.ts#cookiePairs',
      'core/cache/keys.ts#setupOf',
      'core/cache/keys.ts#decidingStages',
      'core/cache/keys.ts#isFirstToCount',
      'core/cache/answer-caching.ts#ttlMs',
      'core/cache/answer-caching.ts#mostTtlMs',
      'core/cache/answer-caching.ts#isComplete',
    ],
    tests: ['core/cache/keys', 'core/cache/ttl'],
  },
  {
    name: 'merging',
    sources: ['core/wire/answer/merge/streams.ts', 'core/wire/answer/merge/index.ts'],
    tests: ['core/wire/answer/merge/merge'],
  },
  {
    name: 'tenants',
    sources: [
      'plugins/tenancy/resolve.ts#resolveHeader',
      'plugins/tenancy/resolve.ts#resolveIds',
      'plugins/tenancy/resolve.ts#resolveTenant',
      'plugins/tenancy/resolve.ts#unknownTenant',
      'plugins/tenancy/resolve.ts#faultOfId',
      'plugins/tenancy/resolve.ts#withoutHeader',
      'plugins/tenancy/resolve.ts#isDefaultAllowed',
      'plugins/tenancy/resolve.ts#refuseDeletionOfAll',
      'plugins/tenancy/resolve.ts#distinctIds',
    ],
    tests: ['plugins/tenancy/resolve'],
  },
  {
    name: 'tenant-labels',
    sources: ['plugins/tenancy/tenant-label.ts'],
    tests: ['plugins/tenancy/tenant-label'],
  },
  {
    name: 'facts',
    sources: ['core/engine/facts.ts'],
    tests: ['core/engine/facts'],
  },
  {
    name: 'time-segments',
    sources: [
      'core/engine/metric/count/time-segments.ts#isIn',
      'core/engine/metric/count/time-segments.ts#partLengthOf',
      'core/engine/metric/count/time-segments.ts#segmentsAround',
      'core/engine/metric/count/time-segments.ts#wholeSegments',
      'core/engine/metric/count/time-segments.ts#borderBefore',
      'core/engine/metric/count/time-segments.ts#borderAfter',
      'core/engine/metric/count/time-segments.ts#segmentsUntil',
      'core/engine/metric/count/time-segments.ts#segmentsOf',
      'core/engine/metric/count/time-segments.ts#cut',
    ],
    tests: ['core/engine/metric/count/time-segments'],
  },
  {
    name: 'plan-filters',
    sources: ['core/engine/plan/logs.ts#RowScope', 'core/engine/plan/logs.ts#decideLineFilter'],
    tests: ['core/engine/plan/behind-stages', 'core/engine/plan/rules', 'core/engine/plan/stored-names'],
  },
  {
    name: 'plan-counts',
    sources: [
      'core/engine/plan/rules/metric.ts#metricRules',
      'core/engine/plan/metric.ts#decideLeaf',
      'core/engine/plan/metric.ts#factsOf',
      'core/engine/plan/metric.ts#measureOf',
      'core/engine/plan/metric.ts#groupNames',
    ],
    tests: [
      'core/engine/plan/behind-stages',
      'core/engine/plan/metric-rules',
      'core/engine/metric/unread-stages',
      'core/engine/metric/unnamed-labels',
    ],
  },
];

/**
 * A source with the lines of the declaration that it names, as Stryker understands it.
 * @throws Error if there is no such declaration
 */
export function linesOf(source: string): string {
  const [file = '', name] = source.split('#');
  if (name === undefined) return file;
  const lines = readFileSync(join(packageRoot(), file), 'utf8').split('\n');
  const first = lines.findIndex((line) =>
    new RegExp(`^(?:export )?(?:class|const|function) ${name}\\b`).test(line),
  );
  if (first < 0) throw new Error(`${file} declares no ${name}`);
  const length = lines.slice(first).findIndex((line) => /^[}\]]/.test(line));
  return `${file}:${first + 1}-${first + length + 1}`;
}
