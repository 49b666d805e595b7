import test from 'ava';
import { withProxyFile } from '../../core/testing/index.js';
import { ask, storeRows } from './store-rows.js';
import { spreadSample } from '../setup/runs.js';

let store: Awaited<ReturnType<typeof storeRows>>;

test.before('rows with dotted names', async () => {
  store = await storeRows(
    ['service.name', 'host.name'],
    [
      {
        _time: '2026-11-01T00:10:00Z',
        _msg: '{"user.id":"7"}',
        'service.name': 'cart',
        'host.name': 'n1',
        'http.method': 'GET',
        severity_number: '9',
      },
    ],
  );
});

test.after.always(async () => {
  await store.close();
});

const styles = ['underscores', 'passthrough'] as const;
const modes = ['translated', 'hybrid', 'native'] as const;
const dotted = ['auto', 'reject', 'accept'] as const;
const browses = ['auto', 'on', 'off'] as const;
const switches = ['true', 'false'] as const;

/** Names by label style and metadata mode (docs/protocol/answers.md#label-and-metadata-naming-modes). */
const names = {
  underscores: {
    labels: ['service_name'],
    translated: ['host_name', 'http_method'],
    hybrid: ['host.name', 'host_name', 'http.method', 'http_method'],
    native: ['host.name', 'http.method'],
  },
  passthrough: {
    labels: ['host.name', 'service.name', 'service_name'],
    translated: ['http.method'],
    hybrid: ['http.method'],
    native: ['http.method'],
  },
} as const;

// The third element and the `message` field of errors are independent of names, so the values of their flags alternate.
let turn = 0;
const cells: Cell[] = [];
for (const style of styles) {
  for (const mode of modes) {
    for (const dots of dotted) {
      for (const browse of browses) {
        turn += 1;
        const emit = switches[turn % 2] ?? 'true';
        const message = switches[(turn >> 1) % 2] ?? 'true';
        cells.push({ style, mode, dots, browse, emit, message });
      }
    }
  }
}
// Five shares no divisor with the number of values of any option, so that each value is sampled.
for (const one of spreadSample(cells, 5)) cell(one);

interface Cell {
  readonly style: (typeof styles)[number];
  readonly mode: (typeof modes)[number];
  readonly dots: (typeof dotted)[number];
  readonly browse: (typeof browses)[number];
  readonly emit: (typeof switches)[number];
  readonly message: (typeof switches)[number];
}

function cell({ style, mode, dots, browse, emit, message }: Cell): void {
  const title = `label-style ${style}, metadata ${mode}, dotted names ${dots}, browse ${browse}, emit ${emit}, message ${message}`;
  const isReference = style === 'underscores' && mode === 'translated';
  const accepts = dots === 'auto' ? !isReference : dots === 'accept';
  const browses = browse === 'auto' ? !isReference : browse === 'on';
  const metadata: readonly string[] = names[style][mode];
  const flags = {
    // The only stream could be an export.
    'stream-labels': 'promoted',
    'label-style': style,
    'metadata-field-mode': mode,
    'logql-dotted-names': dots,
    'label-browse-extensions': browse,
    'emit-structured-metadata': emit,
    'error-response-message-field': message,
    'rate-limit-per-second': '0',
  };
  test.serial(title, async (t) => {
    const given = { ...flags, backend: store.url };
    await withProxyFile(
      'pipelines/reference-compatible.yaml',
      async ({ url }) => {
        const labels = await ask(url, 'labels');
        t.deepEqual(labels.body['data'], names[style].labels);

        const entry = await firstEntry(url, '{service_name="cart"}');
        t.deepEqual(Object.keys(entry.stream).sort(), [...names[style].labels]);
        const shown = Object.keys(entry.metadata).filter((name) => /^h(ost|ttp)/.test(name));
        t.deepEqual(shown.sort(), emit === 'true' ? [...metadata].sort() : []);

        const fields = await ask(url, 'detected_fields', { query: '{service_name="cart"}' });
        const listed = (fields.body['fields'] as readonly { readonly label: string }[]).map(
          ({ label }) => label,
        );
        const json = accepts ? 'user.id' : 'user_id';
        const wanted = [...metadata, json].sort();
        t.deepEqual(listed.filter((name) => /^(host|http|user)/.test(name)).sort(), wanted);
        const values = await ask(url, `detected_field/${encodeURIComponent(metadata[0] ?? '')}/values`, {
          query: '{service_name="cart"}',
        });
        t.deepEqual(values.body['values'], [metadata[0]?.startsWith('host') === true ? 'n1' : 'GET']);

        for (const query of [
          '{service.name="cart"}',
          '{service_name="cart"} | http.method="GET"',
          '{service_name="cart"} | host.name="n1" | keep http.method',
          'sum by (http.method) (count_over_time({service.name="cart"}[1h]))',
        ]) {
          const answer = await ask(url, 'query_range', { query });
          t.is(answer.status, accepts ? 200 : 400, query);
          const { data } = answer.body as { readonly data?: { readonly result: readonly unknown[] } };
          if (accepts) t.is(data?.result.length, 1, query);
          else t.is('message' in answer.body, message === 'true');
        }

        const searched = await ask(url, 'labels', { search: 'no such label' });
        t.deepEqual(searched.body['data'] ?? [], browses ? [] : names[style].labels);
      },
      { flags: given },
    );
  });
}

async function firstEntry(
  url: string,
  query: string,
): Promise<{ readonly stream: object; readonly metadata: object }> {
  const flags = { 'x-loki-response-encoding-flags': 'categorize-labels' };
  const { body } = await ask(url, 'query_range', { query }, flags);
  // The body has the shape of a Loki log response.
  const { data } = body as unknown as {
    readonly data: {
      readonly result: readonly [
        {
          readonly stream: object;
          readonly values: readonly [readonly [string, string, { readonly structuredMetadata?: object }]];
        },
      ];
    };
  };
  const [{ stream, values }] = data.result;
  return { stream, metadata: values[0][2].structuredMetadata ?? {} };
}
