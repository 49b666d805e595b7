import { type DevBackend, startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';

const ROWS = 500_000;
const STREAMS = 50;
const BATCH = 10_000;
const START_NS = 1_791_676_800_000_000_000n;
const LEVELS = ['info', 'info', 'info', 'warn', 'error', 'debug'] as const;

/** Fills an embedded backend with 500,000 rows in 50 streams; prints the rows per second of several queries, and memory. */
export async function run(): Promise<void> {
  const backend = await startDevBackend();
  try {
    const fill = await timed(() => fillStore(backend.url));
    print(
      'ingest',
      ROWS,
      fill.seconds,
      `${Math.round(backend.stats().bytesStored / 1024 / 1024)} MiB estimated`,
    );
    await measure(backend, 'substring, count', '_msg:*"request 4711 "* | stats count() c');
    await measure(backend, 'substring, rows', '_msg:*"request 4711 "*');
    await measure(backend, 'regexp, count', '_msg:~"request 47.1 done" | stats count() c');
    await measure(backend, 'stats by field', '* | stats by (level) count() c');
    await measure(backend, 'stats by stream', '* | stats by (_stream) count() c');
    await measure(backend, 'all rows', '*');
    await measure(backend, 'all rows by time', '* | sort by (_time)');
    await measure(backend, 'newest 1000 of one stream', '{app="app-7"}', { limit: '1000' });
    await measure(backend, 'newest 1000 of all', '*', { limit: '1000' });
    process.stdout.write(
      `peak memory of client and server ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB\n`,
    );
  } finally {
    await backend.close();
  }
}

async function fillStore(url: string): Promise<void> {
  for (let from = 0; from < ROWS; from += BATCH) {
    const lines: string[] = [];
    for (let i = from; i < from + BATCH; i++) {
      const row = {
        _time: (START_NS + BigInt(i) * 1_000_000n).toString(),
        _msg: `request ${i % 10_000} done in ${(i * 37) % 900} ms by worker ${i % 13} path=/api/v1/items/${i}`,
        app: `app-${i % STREAMS}`,
        level: LEVELS[i % LEVELS.length],
        trace_id: (i * 2_654_435_761).toString(16).padStart(16, '0'),
      };
      lines.push(JSON.stringify(row));
    }
    const response = await fetch(`${url}/insert/jsonline?_stream_fields=app`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/stream+json' },
      body: lines.join('\n'),
    });
    if (response.status !== 200) throw new Error(await response.text());
  }
}

async function measure(
  backend: DevBackend,
  name: string,
  query: string,
  params: Readonly<Record<string, string>> = {},
): Promise<void> {
  const before = backend.stats().rowsRead;
  const { seconds, value } = await timed(async () => {
    const response = await fetch(`${backend.url}/select/logsql/query`, {
      method: 'POST',
      headers: { 'Accept-Encoding': 'identity' },
      body: new URLSearchParams({ query, ...params }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.arrayBuffer()).byteLength;
  });
  const read = backend.stats().rowsRead - before;
  print(name, read, seconds, `${read} rows read, ${value} bytes`);
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly seconds: number; readonly value: T }> {
  const start = performance.now();
  const value = await work();
  return { seconds: (performance.now() - start) / 1000, value };
}

function print(name: string, rows: number, seconds: number, detail: string): void {
  const perSecond = Math.round(rows / seconds).toLocaleString('en');
  process.stdout.write(
    `${name.padEnd(26)} ${Math.round(seconds * 1000)} ms, ${perSecond} rows/s; ${detail}\n`,
  );
}
