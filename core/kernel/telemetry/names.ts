/** Prefix of every metric of this program. */
export const metricPrefix = 'ref_proxy_';

/** The names of a metric in scrapes: metrics of the process and its runtime also have the names that dashboards of other programs use. */
export function scrapedNames(name: string): readonly string[] {
  const plain = name.slice(metricPrefix.length);
  return /^(?:go|process)_/.test(plain) && name.startsWith(metricPrefix) ? [name, plain] : [name];
}
