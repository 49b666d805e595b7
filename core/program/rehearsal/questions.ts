import { sampleMs } from './sample-rows.js';

/** A request of the rehearsal. */
export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What stands in the address, or in the form. */
  readonly params: string;
}

/** A kind of request as clients send it; `NEW` in a parameter becomes a text that no request had before. */
interface Shape {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

const json = '{service_name="shop"} != "NEW"';
const all = '{namespace=~".+"} != "NEW"';

function range(query: string, more: Readonly<Record<string, string>>): Shape {
  return { path: 'query_range', params: { query, ...more } };
}

/** What Grafana asks most, in Explore, on dashboards, in its pickers of labels and in Logs Drilldown, and what runs the most code. */
const shapes: readonly Shape[] = [
  range(all, { limit: '1000' }),
  range(`sum by (namespace) (rate(${all} [5m]))`, { step: '60' }),
  range(`${json} | json | status >= 500 | line_format "{{.method}} {{.path}} {{.status}}"`, {
    limit: '1000',
  }),
  range(`{service_name="orders"} != "NEW" | logfmt | items > 5`, { limit: '1000' }),
  range(`sum by (status) (count_over_time(${json} | json [5m]))`, { step: '300' }),
  range(`sum by (level, detected_level) (count_over_time(${all} | drop __error__ [5m]))`, { step: '300' }),
  range(json, { limit: '100' }),
  { path: 'query', params: { query: `topk(3, sum by (pod) (count_over_time(${all} [10m])))` } },
  { path: 'labels', params: {} },
  { path: 'label/pod/values', params: { query: '{namespace="web", pod!="NEW"}' } },
  { path: 'series', params: { 'match[]': '{namespace=~".+", pod!="NEW"}' } },
  { path: 'detected_fields', params: { query: '{service_name="shop", pod!="NEW"}', line_limit: '1000' } },
  { path: 'detected_labels', params: { query: '{namespace=~".+", pod!="NEW"}' } },
  { path: 'index/volume', params: { query: '{namespace=~".+", pod!="NEW"}', targetLabels: 'namespace' } },
  { path: 'index/stats', params: { query: '{namespace=~".+", pod!="NEW"}' } },
];

/** Everything that is asked, once. Ranges and texts differ from one question to the next, so that no cache answers. */
export function* questions(startMs: number): Generator<Question> {
  for (const [index, { path, params }] of shapes.entries()) {
    const nth = index + 1;
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) form.set(name, value.replaceAll('NEW', `new-${nth}`));
    const [startNs, endNs] = [startMs + nth * 1_000, startMs + sampleMs - nth * 1_000].map(
      (ms) => `${ms}000000`,
    );
    if (path === 'query') form.set('time', endNs ?? '');
    else {
      form.set('start', startNs ?? '');
      form.set('end', endNs ?? '');
    }
    yield {
      // Grafana sends queries as forms if its data source says so.
      method: nth % 3 === 0 ? 'POST' : 'GET',
      path: `/loki/api/v1/${path}`,
      headers: {
        ...(nth % 4 < 2 ? { 'Accept-Encoding': 'gzip' } : {}),
        ...(nth % 2 === 0 ? { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' } : {}),
      },
      params: form.toString(),
    };
  }
}
