import {
  startFakeVictoriaLogs,
  type BackendAnswer,
  type BackendCall,
  type FakeVictoriaLogs,
} from '../pipeline-test/fake-victorialogs.js';
import { sampleFields, sampleRows, type SampleRow } from './sample-rows.js';

type Args = BackendCall['args'];

/**
 * A backend that answers with the rows and the names of the sample, whatever is asked of it: what answers say does not matter, only that the
 * code of the proxy runs. It evaluates no LogsQL, so that nothing is counted here.
 */
export function startSampleBackend(startMs: number): Promise<FakeVictoriaLogs> {
  const rows = sampleRows(startMs);
  const streams = new Map(rows.map(({ stream, labels }) => [stream, labels]));
  const valuesOf = (name: string): ReadonlySet<string> =>
    new Set([...streams.values()].flatMap((labels) => new Map(Object.entries(labels)).get(name) ?? []));
  const answers = new Map<string, (args: Args) => BackendAnswer>([
    ['/select/logsql/streams', () => listing(streams.keys())],
    ['/select/logsql/stream_field_names', () => listing(sampleFields.labels)],
    ['/select/logsql/stream_field_values', (args) => listing(valuesOf(args.get('field') ?? ''))],
    ['/select/logsql/field_names', () => listing(sampleFields.all)],
    ['/select/logsql/stats_query', () => statistics('vector')],
    ['/select/logsql/stats_query_range', () => statistics('matrix')],
    ['/select/logsql/query', (args) => ({ body: selected(rows, args) })],
    ['/delete/active_tasks', () => ({ body: '[]' })],
  ]);
  return startFakeVictoriaLogs({ answer: ({ path, args }) => answers.get(path)?.(args) });
}

function listing(values: Iterable<string>): BackendAnswer {
  return { body: JSON.stringify({ values: [...values].map((value) => ({ value, hits: 1 })) }) };
}

function statistics(resultType: string): BackendAnswer {
  return { body: JSON.stringify({ status: 'success', data: { resultType, result: [] } }) };
}

/** The rows of a service within the range; none where they are counted or rebuilt. */
function selected(rows: readonly SampleRow[], args: Args): string {
  const query = args.get('query') ?? '';
  if (/ \| (?:stats|extract|format|unpack\w+) /.test(query)) return '';
  const service = /\{service_name="(?<name>\w+)"/.exec(query)?.groups?.['name'];
  const [startMs, endMs] = ['start', 'end'].map((name) => Number((args.get(name) ?? '').slice(0, 13)));
  return rows
    .filter(({ labels }) => service === undefined || labels['service_name'] === service)
    .filter(({ ms }) => ms >= (startMs ?? 0) && ms < (endMs ?? 0))
    .map(({ text }) => `${text}\n`)
    .join('');
}
