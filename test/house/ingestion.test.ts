/** Checks the ingestion guide: it quotes the files of examples/ingestion, and its table shows the logs that they send. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { packageRoot } from '../../core/kernel/options/index.js';
import { withProxy } from '../../core/testing/index.js';
import { collectors, type Collector } from './ingestion/collectors.js';
import {
  codeBlocks,
  configuration,
  guide,
  jsonLine,
  plainLine,
  viewsOfGuide,
  type View,
} from './ingestion/guide.js';

const root = packageRoot();
const atNs = 1_795_600_000_000_000_000n;

/** The ingestion paths of VictoriaLogs, and its syslog TCP listener. */
const addresses: ReadonlySet<string> = new Set([
  '/insert/native',
  '/insert/jsonline',
  '/insert/loki/api/v1/push',
  '/insert/opentelemetry/v1/logs',
  '/insert/elasticsearch/_bulk',
  '/insert/journald/upload',
  '/api/v2/logs',
  'tcp',
]);

interface Seen {
  readonly view: View;
  /** `detected_level` of the JSON line. */
  readonly jsonLevel: string;
}

/**
 * Stores both sample lines as each collector does, in one tenant per collector, and reads them through the minimal shipped pipeline with
 * `more` appended.
 */
async function seenOf(those: readonly Collector[], more = ''): Promise<ReadonlyMap<string, Seen>> {
  const backend = await startDevBackend();
  try {
    for (const [index, collector] of those.entries()) await send(backend.url, collector, index + 1);
    const pipeline = readFileSync(join(root, 'pipelines/minimal.yaml'), 'utf8') + more;
    const use = async ({ url }: { readonly url: string }): Promise<ReadonlyMap<string, Seen>> => {
      const seen = those.map(async ({ name }, index) => [name, await see(url, index + 1)] as const);
      return new Map(await Promise.all(seen));
    };
    return await withProxy(pipeline, use, { flags: { backend: backend.url } });
  } finally {
    await backend.close();
  }
}

async function send(url: string, collector: Collector, account: number): Promise<void> {
  for (const [index, line] of [jsonLine, plainLine].entries()) {
    const { path, headers, body } = collector.push(line, atNs + BigInt(index) * 1_000_000n);
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, AccountID: String(account) },
      body,
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

interface Categorized {
  readonly data: {
    readonly result: readonly {
      readonly stream: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [
        string,
        string,
        { readonly structuredMetadata: Readonly<Record<string, string>> },
      ])[];
    }[];
  };
}

async function see(url: string, account: number): Promise<Seen> {
  const query = new URLSearchParams({
    query: '{service_name=~".+"}',
    start: String(atNs - 1_000_000_000n),
    end: String(atNs + 1_000_000_000n),
    direction: 'forward',
  });
  const answer = await fetch(`${url}/loki/api/v1/query_range?${query.toString()}`, {
    headers: {
      'X-Loki-Response-Encoding-Flags': 'categorize-labels',
      'X-Scope-OrgID': String(account),
    },
  });
  const { data } = (await answer.json()) as Categorized;
  const [{ stream, values } = { stream: {}, values: [] }, ...others] = data.result;
  const [json, plain] = values;
  if (json === undefined || plain === undefined || others.length > 0)
    throw new Error(`not two lines of one stream: ${JSON.stringify(data.result)}`);
  const { service_name: serviceName = '', ...labels } = stream;
  const { detected_level: jsonLevel = '', ...metadata } = json[2].structuredMetadata;
  const view: View = {
    labels: Object.keys(labels).sort(),
    serviceName,
    line: json[1],
    metadata: Object.keys(metadata).sort(),
    plainLevel: plain[2].structuredMetadata['detected_level'] ?? '',
  };
  return { view, jsonLevel };
}

test('the ingestion guide quotes every file of its examples', (t) => {
  const blocks = codeBlocks(guide);
  const files = readdirSync(join(root, 'examples/ingestion'));
  t.true(files.length > 10);
  t.deepEqual(
    files.filter((file) => !blocks.includes(configuration(file))),
    [],
  );
});

test('configurations of the ingestion guide send to addresses of VictoriaLogs', (t) => {
  t.deepEqual(
    collectors.filter(({ address }) => !addresses.has(address)).map(({ name, address }) => [name, address]),
    [],
  );
});

test('the table of the ingestion guide shows the logs of each collector as Loki clients see them', async (t) => {
  const views = viewsOfGuide();
  t.deepEqual(
    [...views.keys()],
    collectors.map(({ name }) => name),
  );
  for (const [name, { view, jsonLevel }] of await seenOf(collectors)) {
    t.deepEqual(view, views.get(name), name);
    t.is(jsonLevel, 'error', name);
  }
});

test('with the names of the ingestion guide, Kubernetes logs have the labels of Loki collectors', async (t) => {
  const those = collectors.filter(({ name }) => ['vlagent', 'Fluent Bit'].includes(name));
  const seen = await seenOf(those, configuration('kubernetes-names.yaml'));
  t.is(seen.size, 2);
  for (const [name, { view }] of seen) {
    t.deepEqual(view.labels, ['container', 'namespace', 'pod'], name);
    t.is(view.serviceName, 'web', name);
  }
});

test('Loki push addresses for operators keep JSON lines whole', (t) => {
  const texts = ['README.md', 'docs/ingestion.md', 'docs/moving-from-loki.md'].map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const pushed = texts.flatMap((text) =>
    Array.from(text.matchAll(/http:\/\/\S+\/loki\/api\/v1\/push[^\s`"]*/g), ([url]) => url),
  );
  t.true(pushed.length > 3);
  t.deepEqual(
    pushed.filter((url) => !url.endsWith('/insert/loki/api/v1/push?disable_message_parsing=1')),
    [],
  );
});
