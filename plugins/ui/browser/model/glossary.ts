/** Explanations of stages beyond their names, by plugin. */
export const glossary: ReadonlyMap<string, string> = new Map([
  ['tenancy', 'A tenant is whose logs are asked for.'],
  ['tier0', 'The first of the caches: a request that comes again gets the very bytes of before.'],
  ['kept-patterns', 'Patterns are the recurring shapes of lines, as Logs Drilldown shows them.'],
  ['window-split', 'Hours that are over do not change: they are read once.'],
  ['cold-route', 'For logs that were moved to slower storage.'],
  ['peer-cache', 'The second cache: answers in memory and on disk, shared with other proxies.'],
  ['drilldown', 'Logs Drilldown asks for many fields at once.'],
]);
