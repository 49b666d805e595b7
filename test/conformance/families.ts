/** Stages that the chain answers the same without. */
export const optionalStages: readonly string[] = [
  'tier0',
  'window-split',
  'cold-route',
  'peer-cache',
  'guard',
];
