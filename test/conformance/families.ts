/** Stages without which the chain returns the same answers. */
export const optionalStages: readonly string[] = [
  'tier0',
  'kept-patterns',
  'label-index',
  'window-split',
  'cold-route',
  'peer-cache',
  'drilldown',
  'guard',
];
