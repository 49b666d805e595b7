/** Prefix of every metric of this program. */
export const metricPrefix = 'ref_proxy_';

/** The names of a metric in scrapes: those of the process and its runtime also have the ones that dashboards of other programs ask for. */
export function scrapedNames(name: string): readonly string[] {
  const plain = name.slice(metricPrefix.length);
  return /^(?:go|process)_/.test(plain) && name.startsWith(metricPrefix) ? [name, plain] : [name];
}
