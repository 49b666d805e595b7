/** Families of the main set that must pass whole, with the cases of them that wait for metric queries. */
export const requiredFamilies: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['selector', new Set<string>()],
  ['line-filter', new Set<string>()],
  ['limit-direction', new Set<string>()],
  ['labels', new Set<string>()],
  ['label-values', new Set<string>()],
  ['series', new Set<string>()],
  ['time-bounds', new Set(['time-bounds-024'])],
  ['index-stats', new Set<string>()],
  ['format-query', new Set<string>()],
  ['volume', new Set<string>()],
  ['volume-range', new Set<string>()],
  ['detected-labels', new Set<string>()],
  ['detected-fields', new Set<string>()],
  ['detected-field-values', new Set<string>()],
  ['patterns', new Set<string>()],
]);

/** The same of the OpenTelemetry set. */
export const requiredOtelFamilies: ReadonlySet<string> = new Set([
  'otel-selector',
  'otel-labels',
  'otel-values',
  'otel-series',
  'otel-stats',
  'otel-fields',
  'otel-field-values',
  'otel-detected-labels',
  'otel-volume',
  'otel-patterns',
]);

/** Stages that the chain answers the same without. */
export const optionalStages: readonly string[] = [
  'tier0',
  'window-split',
  'cold-route',
  'peer-cache',
  'guard',
];
