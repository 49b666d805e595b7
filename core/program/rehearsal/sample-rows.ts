/** How long the sample lasts, and how many lines it has. */
export const sampleMs = 3_600_000;
const lines = 250;

interface Kind {
  readonly service: string;
  readonly namespace: string;
  readonly pods: number;
  readonly line: (index: number, at: string) => string;
  readonly metadata?: (index: number) => Readonly<Record<string, string>>;
}

/** Of five values one after another, most of them the first: figures that differ, without chance. */
const statuses = [200, 200, 404, 200, 503] as const;
const levels = ['info', 'info', 'warn', 'debug', 'error'] as const;
const methods = ['GET', 'POST', 'GET', 'PUT', 'DELETE'] as const;

/** Lines as they are usual: each way of writing them runs through other code. */
const kinds: readonly Kind[] = [
  {
    service: 'shop',
    namespace: 'web',
    pods: 6,
    line: (index, at) =>
      JSON.stringify({
        ts: at,
        level: levels[index % 5],
        msg: `request ${index} served${index % 7 === 0 ? ' after a "retry"' : ''}`,
        method: methods[(index >> 2) % 5],
        path: `/api/items/${index % 97}`,
        status: statuses[index % 5],
        duration_ms: ((index * 37) % 1_009) / 4,
        http: { bytes: (index * 7_919) % 65_536, agent: 'curl/8' },
      }),
    metadata: (index) => (index % 3 === 0 ? {} : { trace_id: traceId(index) }),
  },
  {
    service: 'orders',
    namespace: 'web',
    pods: 4,
    line: (index, at) =>
      `ts=${at} level=${levels[index % 5]} msg="order ${index} placed" items=${index % 9} took=${index % 400}ms`,
  },
  {
    service: 'ingress',
    namespace: 'edge',
    pods: 2,
    line: (index) =>
      `10.0.${index % 4}.${index % 251} "${methods[index % 5]} /api/items/${index % 97} HTTP/1.1" ${statuses[index % 5]} ${(index * 7_919) % 48_000}`,
  },
  {
    service: 'batch',
    namespace: 'jobs',
    pods: 2,
    line: (index) =>
      index % 11 === 0
        ? `[ERROR] batch ${index} gave up: Timeout reading from 192.168.3.${index % 40}`
        : `[INFO] batch ${index} done in ${index % 90}s`,
    metadata: (index) => ({ detected_level: levels[index % 5] ?? 'info', worker: `w${index % 6}` }),
  },
];

function traceId(index: number): string {
  return (index * 2_654_435_761).toString(16).padStart(32, '0');
}

/** A row of the sample, and the labels of its stream. */
export interface SampleRow {
  readonly ms: number;
  readonly stream: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As the backend sends it. */
  readonly text: string;
}

/** The names of the sample. */
export const sampleFields = {
  labels: ['cluster', 'namespace', 'pod', 'service_name'],
  all: [
    ...['_msg', '_stream', '_stream_id', '_time', 'cluster', 'namespace', 'pod', 'service_name'],
    ...['detected_level', 'trace_id', 'worker'],
  ],
} as const;

/** Rows of the sample, newest first. */
export function sampleRows(startMs: number): readonly SampleRow[] {
  const rows: SampleRow[] = [];
  for (let index = lines - 1; index >= 0; index -= 1) {
    // Two of five lines are JSON.
    const kind = kinds[[0, 1, 0, 2, 3][index % 5] ?? 0];
    if (kind === undefined) continue;
    const nth = Math.floor(index / 5);
    const ms = startMs + Math.floor((index / lines) * sampleMs);
    const at = new Date(ms).toISOString();
    const labels = {
      cluster: nth % 2 === 0 ? 'eu' : 'us',
      namespace: kind.namespace,
      pod: `${kind.service}-${nth % kind.pods}`,
      service_name: kind.service,
    };
    const stream = `{${Object.entries(labels)
      .map(([name, value]) => `${name}="${value}"`)
      .join(',')}}`;
    const row = {
      ...{ _time: at, _stream: stream, _stream_id: streamId(stream), _msg: kind.line(nth, at) },
      ...{ ...labels, ...kind.metadata?.(nth) },
    };
    rows.push({ ms, stream, labels, text: JSON.stringify(row) });
  }
  return rows;
}

function streamId(stream: string): string {
  return Buffer.from(stream).toString('hex').slice(-48).padStart(48, '0');
}
