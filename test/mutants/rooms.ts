import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';

/** A part of the code in which a wrong line would give wrong answers without an error. */
export interface MutatedRoom {
  readonly name: string;
  /** Sources to mutate; a single declaration of a file has the form `core/engine/plan/logs.ts#RowScope`. */
  readonly sources: readonly string[];
  /** Test files that must detect the mutants. */
  readonly tests: readonly string[];
}

/** Sources for several declarations of one file. */
function declarations(file: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `${file}#${name}`);
}

export const mutatedRooms: readonly MutatedRoom[] = [
  {
    name: 'cache-keys',
    sources: [
      ...declarations(
        'core/cache/keys.ts',
        'createCacheKeys',
        'tenantPart',
        'tenantOf',
        'callerKey',
        'createFingerprint',
        'pairOf',
        'cookiePairs',
        'setupOf',
        'decidingStages',
        'isFirstToCount',
      ),
      ...declarations('core/cache/answer-caching.ts', 'ttlMs', 'mostTtlMs', 'isComplete'),
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
    sources: declarations(
      'plugins/tenancy/resolve.ts',
      'resolveHeader',
      'resolveIds',
      'resolveTenant',
      'unknownTenant',
      'faultOfId',
      'withoutHeader',
      'isDefaultAllowed',
      'refuseDeletionOfAll',
      'distinctIds',
    ),
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
    sources: declarations(
      'core/engine/metric/count/time-segments.ts',
      'isIn',
      'partLengthOf',
      'segmentsAround',
      'wholeSegments',
      'borderBefore',
      'borderAfter',
      'segmentsUntil',
      'segmentsOf',
      'cut',
    ),
    tests: ['core/engine/metric/count/time-segments'],
  },
  {
    name: 'plan-filters',
    sources: ['core/engine/plan/logs.ts#RowScope', 'core/engine/plan/logs.ts#decideLineFilter'],
    tests: ['core/engine/plan/behind-stages', 'core/engine/plan/rules', 'core/engine/plan/stored-names'],
  },
  {
    name: 'rebuilt-lines',
    sources: declarations(
      'core/engine/plan/missing-lines.ts',
      'rebuiltLinesExactly',
      'holding',
      'storedTexts',
    ),
    tests: ['core/engine/plan/rebuilt-lines'],
  },
  {
    name: 'plan-counts',
    sources: [
      ...declarations('core/engine/plan/rules/metric.ts', 'metricRules'),
      ...declarations('core/engine/plan/metric.ts', 'factsOf', 'measureOf', 'groupNames'),
    ],
    tests: [
      'core/engine/plan/behind-stages',
      'core/engine/plan/metric-rules',
      'core/engine/metric/unread-stages',
      'core/engine/metric/unnamed-labels',
    ],
  },
  {
    name: 'plan-leaves',
    sources: ['core/engine/plan/metric.ts#decideLeaf'],
    tests: [
      'core/engine/plan/metric-rules',
      'core/engine/metric/strategies',
      'core/engine/plan/explain/explain',
      'core/engine/metric/count/logfmt',
      'core/engine/metric/count/pattern',
      'core/engine/metric/count/value-groups',
    ],
  },
];

/**
 * A source in Stryker's format: the file, with the lines of the declaration if the source names one.
 * @throws Error if the file has no declaration of that name
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
