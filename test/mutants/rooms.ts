/** A part of the code where a wrong line would give wrong answers without an error. */
export interface MutatedRoom {
  readonly name: string;
  /** Sources to mutate; a range of lines as `core/cache/keys.ts:10-40`. */
  readonly sources: readonly string[];
  /** Test files that must notice. */
  readonly tests: readonly string[];
}

export const mutatedRooms: readonly MutatedRoom[] = [
  {
    name: 'cache-keys',
    sources: ['core/cache/keys.ts', 'core/cache/ttl.ts'],
    tests: ['core/cache/keys', 'core/cache/ttl'],
  },
  {
    name: 'merging',
    sources: ['core/wire/answer/merge/streams.ts', 'core/wire/answer/merge/index.ts'],
    tests: ['core/wire/answer/merge/merge'],
  },
  {
    name: 'tenants',
    sources: ['plugins/tenancy/resolve.ts'],
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
    sources: ['core/engine/metric/count/time-segments.ts'],
    tests: ['core/engine/metric/count/time-segments'],
  },
];
