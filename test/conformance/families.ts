/** Stages that the chain answers the same without. */
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
