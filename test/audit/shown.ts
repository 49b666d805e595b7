import { join } from 'node:path';
import type { LogRecord } from '../../core/testing/index.js';
import { hourMs, Lab, linesOf, until, type House } from './lab.js';
import type { Site } from './site.js';

const selector = '{app="web"}';

/** The metrics and logs of a proxy after requests of many kinds. */
interface Shown {
  readonly exposition: string;
  readonly log: readonly LogRecord[];
}

const shown = new WeakMap<House, Promise<Shown>>();

/** Sends requests to one proxy for all claims about metrics and logs. */
async function use(house: House): Promise<Shown> {
  const lab = new Lab(house);
  try {
    await lab.push([
      ...linesOf({ app: 'web' }, 300, 3 * hourMs, (at) => `served request ${at} in ${at * 3} ms`),
      ...linesOf({ app: 'web' }, 300, hourMs, (at) => `read block ${at}`).map((line) => ({
        ...line,
        agoMs: line.agoMs + 10 * hourMs,
      })),
    ]);
    const folder = await lab.folder();
    const site = await lab.site({
      'log-level': 'debug',
      'log-buffered': 'false',
      'log-rate-threshold': '0',
      'metrics.export-sensitive-labels': 'true',
      'metrics.trust-proxy-headers': 'true',
      'disk-cache-path': join(folder, 'cache.db'),
      'patterns-persist-path': join(folder, 'patterns'),
      'peer-self': '127.0.0.1:1',
      'peer-discovery': 'static',
      'peer-static': '127.0.0.1:1',
      'peer-auth-token': 'secret',
    });
    await ask(lab, site);
    const { text } = await site.get('/metrics');
    await until('the records', () => site.log.records.some((each) => each.has('http.parent_route')));
    return { exposition: text, log: [...site.log.records] };
  } finally {
    await lab.close();
  }
}

async function ask(lab: Lab, site: Site): Promise<void> {
  const headers = { 'x-grafana-user': 'ann', authorization: `Basic ${btoa('grafana:secret')}` };
  const times = { ...lab.range(12 * hourMs), step: '300' };
  const query = selector;
  for (let round = 0; round < 2; round += 1) {
    await site.get('query_range', { ...times, query }, headers);
    await site.get('query_range', { ...times, query: `sum(count_over_time(${query}[5m]))` }, headers);
    await site.get('query_range', { ...times, query: `sum(rate(${query} |= "served" [7m]))` }, headers);
    await site.get('patterns', { ...times, query }, headers);
    await Promise.all([1, 2].map(() => site.get('series', { ...times, 'match[]': query }, headers)));
  }
  const categorized = { ...headers, 'x-loki-response-encoding-flags': 'categorize-labels' };
  await site.get('query_range', { ...times, query, limit: '7' }, categorized);
  await site.get('labels', times, headers);
  await site.get('query', { query: '{app=' }, headers);
}

/** The metrics and logs that all claims of a run share. */
export function showing({ house }: Lab): Promise<Shown> {
  const known = shown.get(house) ?? use(house);
  shown.set(house, known);
  return known;
}
