import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { withProxyFile } from '../../core/testing/index.js';
import { ask, storeRows, type StoredRow } from './store-rows.js';

let store: Awaited<ReturnType<typeof storeRows>>;

const rows: readonly StoredRow[] = [
  {
    _msg: 'took 3s, error ahead',
    'service.name': 'cart',
    'kubernetes.pod': 'p-1',
    'team.owner': 'web',
    'http.method': 'GET',
  },
  {
    _msg: 'nothing to say',
    'service.name': 'shop',
    'k8s.pod.name.a': 'x',
    'team/owner': 'ops',
    severity: 'Warning',
  },
  { _msg: 'nothing to say', service_name: 'pushed', team_owner: 'web' },
];

test.before('rows of three streams', async () => {
  const timed = rows.map((row, index) => ({ _time: `2026-11-01T00:10:0${index}Z`, ...row }));
  store = await storeRows(
    ['service.name', 'service_name', 'kubernetes.pod', 'k8s.pod.name.a', 'team.owner'],
    timed,
  );
});

test.after.always(async () => {
  await store.close();
});

type Ask = (path: string, params?: Readonly<Record<string, string>>) => ReturnType<typeof ask>;

async function withFlags(
  flags: Readonly<Record<string, string>>,
  use: (asked: Ask) => Promise<void>,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withProxyFile(
    'pipelines/reference-compatible.yaml',
    ({ url }) => use((path, params) => ask(url, path, params, headers)),
    { flags: { backend: store.url, ...flags } },
  );
}

async function data(asked: Ask, path: string, params?: Readonly<Record<string, string>>): Promise<unknown> {
  return (await asked(path, params)).body['data'];
}

/** The label sets of the entries that a query returns. */
async function streams(asked: Ask, query: string): Promise<readonly Record<string, string>[]> {
  const { body } = await asked('query_range', { query });
  // The body has the shape of a Loki log response.
  const { data: found } = body as unknown as {
    readonly data: { readonly result: readonly { readonly stream: Record<string, string> }[] };
  };
  return found.result.map(({ stream }) => stream);
}

async function services(asked: Ask, query: string): Promise<readonly unknown[]> {
  return (await streams(asked, query)).map((stream) => stream['service_name']).sort();
}

test.serial(
  'without options every stream field is a label under its one name, in lists, selectors and series',
  async (t) => {
    await withFlags({}, async (asked) => {
      const all = ['k8s_pod_name_a', 'kubernetes_pod', 'service_name', 'team_owner'];
      t.deepEqual(await data(asked, 'labels'), all);
      t.deepEqual(await data(asked, 'label/team_owner/values'), ['web']);
      t.deepEqual(await data(asked, 'label/kubernetes_pod/values'), ['p-1']);
      t.deepEqual(await services(asked, '{team_owner="web"}'), ['cart']);
      t.deepEqual(await services(asked, '{service_name=~".+", team_owner!="web"}'), ['pushed', 'shop']);
      t.deepEqual(await services(asked, '{service_name=~".+", team_owner=""}'), ['pushed', 'shop']);
      t.deepEqual(await services(asked, '{service_name=~".+", team_owner!~"w.*"}'), ['pushed', 'shop']);
      t.deepEqual(await services(asked, '{kubernetes_pod=~"p-.+"}'), ['cart']);
      t.deepEqual(await data(asked, 'series', { 'match[]': '{kubernetes_pod="p-1"}' }), [
        { kubernetes_pod: 'p-1', service_name: 'cart', team_owner: 'web' },
      ]);
    });
  },
);

test.serial(
  'where all streams are exports promoted attributes are labels, their leaves too, and all spellings of a name are one',
  async (t) => {
    await withFlags({ 'stream-labels': 'promoted' }, async (asked) => {
      t.deepEqual(await data(asked, 'labels'), ['k8s_pod_name_a', 'service_name']);
      t.deepEqual(await data(asked, 'label/k8s_pod_name_a/values'), ['x']);
      t.deepEqual(await services(asked, '{k8s_pod_name_a="x"}'), ['shop']);
      t.deepEqual(await services(asked, '{service_name=~".+", k8s_pod_name_a=""}'), ['cart', 'pushed']);
      t.deepEqual(await data(asked, 'series', { 'match[]': '{k8s_pod_name_a=~".+"}' }), [
        { k8s_pod_name_a: 'x', service_name: 'shop' },
      ]);
      t.deepEqual(await services(asked, '{service_name=~".+"} | team_owner="web"'), ['cart', 'pushed']);
      t.deepEqual(await services(asked, '{service_name=~".+"} | team_owner="ops"'), ['shop']);
      t.deepEqual(await services(asked, '{service_name=~".+"} | team_owner!="web"'), ['shop']);
      t.deepEqual(await services(asked, '{team_owner="web"}'), []);
    });
  },
);

test.serial(
  'metadata with the name of a label takes the place of a label that has its other name',
  async (t) => {
    const row = {
      _time: '2026-11-01T00:10:00Z',
      _msg: 'x',
      'service.name': 'outer',
      service_name_extracted: 'label',
    };
    const clashing = await storeRows(
      ['service.name', 'service_name_extracted'],
      [{ ...row, service_name: 'inner' }],
    );
    t.teardown(() => clashing.close());
    await withFlags({ backend: clashing.url }, async (asked) => {
      const [stream] = await streams(asked, '{service_name="outer"}');
      t.is(stream?.['service_name_extracted'], 'inner');
      t.false('service_name_extracted_extracted' in (stream ?? {}));
    });
  },
);

test.serial('field-mapping gives a field another name, in answers and in queries', async (t) => {
  const mapping = [
    { vl_field: 'kubernetes.pod', loki_label: 'pod' },
    { vl_field: 'http.method', loki_label: 'verb' },
  ];
  await withFlags(
    { 'field-mapping': JSON.stringify(mapping), 'stream-labels': 'promoted' },
    async (asked) => {
      t.deepEqual(await data(asked, 'labels'), ['k8s_pod_name_a', 'pod', 'service_name']);
      t.deepEqual(await data(asked, 'label/pod/values'), ['p-1']);
      t.deepEqual(await services(asked, '{pod="p-1"}'), ['cart']);
      const [stream] = await streams(asked, '{service_name="cart"} | verb="GET"');
      t.like(stream, { pod: 'p-1', verb: 'GET' });
      t.deepEqual(await services(asked, '{service_name="cart"} | http_method="GET"'), []);
    },
  );
});

test.serial('extra-label-fields are listed, have values and can be selected', async (t) => {
  const flags = { 'extra-label-fields': 'team.owner,team.owner', 'stream-labels': 'promoted' };
  await withFlags(flags, async (asked) => {
    t.deepEqual(await data(asked, 'labels'), ['k8s_pod_name_a', 'service_name', 'team_owner']);
    t.deepEqual(await data(asked, 'label/team_owner/values'), ['web']);
    t.deepEqual(await services(asked, '{team_owner="web"}'), ['cart', 'pushed']);
    t.deepEqual(await services(asked, '{service_name=~".+", team_owner!~"w.*"}'), ['shop']);
    const volume = await asked('index/volume', {
      query: '{service_name="cart"}',
      targetLabels: 'team_owner',
    });
    t.regex(JSON.stringify(volume.body), /"metric":\{"team_owner":"web"\}/);
  });
});

test.serial('stream-fields are labels', async (t) => {
  await withFlags({ 'stream-fields': 'team.owner', 'stream-labels': 'promoted' }, async (asked) => {
    t.deepEqual(await data(asked, 'labels'), ['k8s_pod_name_a', 'service_name', 'team_owner']);
    t.deepEqual(await services(asked, '{team_owner="web"}'), ['cart']);
  });
});

test.serial('without translate-otel-attributes queries keep the names of the client', async (t) => {
  await withFlags({ 'translate-otel-attributes': 'false' }, async (asked) => {
    t.deepEqual(await services(asked, '{service_name="pushed"}'), ['pushed']);
    t.deepEqual(await services(asked, '{service_name="cart"}'), []);
  });
});

test.serial('backend-default-msg-value marks rows without a line', async (t) => {
  await withFlags({ 'backend-default-msg-value': 'nothing to say' }, async (asked) => {
    const { body } = await asked('query_range', {
      query: '{service_name="shop"} | json | severity="Warning"',
    });
    t.true(JSON.stringify(body).includes(JSON.stringify('{"severity":"Warning","team/owner":"ops"}')));
    t.deepEqual(await services(asked, '{service_name="shop"} |= "nothing"'), []);
    t.deepEqual(await services(asked, '{service_name="shop"} |= "Warning"'), ['shop']);
  });
});

test.serial('without detected-level-body-scan levels come from stored fields only', async (t) => {
  for (const [scan, level] of [
    ['true', 'error'],
    ['false', 'unknown'],
  ] as const) {
    await withFlags({ 'detected-level-body-scan': scan }, async (asked) => {
      t.like((await streams(asked, '{service_name="cart"}'))[0], { detected_level: level });
      t.like((await streams(asked, '{service_name="shop"}'))[0], { detected_level: 'warn' });
    });
  }
});

test.serial('promoted attributes can be told by tenant', async (t) => {
  const promoted = 'tenantPromotedAttributes: { fake: [service.name, team.owner] }';
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    const shipped = await readFile('pipelines/reference-compatible.yaml', 'utf8');
    const file = join(folder, 'pipeline.yaml');
    await writeFile(file, shipped.replace('names:\n', `names:\n  ${promoted}\n`));
    await withProxyFile(
      file,
      async ({ url }) => {
        const labels = async (orgId: string): Promise<unknown> =>
          (await ask(url, 'labels', {}, { 'x-scope-orgid': orgId })).body['data'];
        t.deepEqual(await labels('fake'), ['service_name', 'team_owner']);
        t.deepEqual(await labels('default'), ['k8s_pod_name_a', 'service_name']);
      },
      { flags: { backend: store.url, 'stream-labels': 'promoted' } },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.serial("Loki's otlp_config in tenant limits says which attributes of exports are labels", async (t) => {
  const exported = await storeRows(
    ['service.name', 'telemetry.sdk.name', 'team.owner'],
    [
      {
        _time: '2026-11-01T00:10:00Z',
        _msg: 'x',
        'service.name': 'a',
        'telemetry.sdk.name': 'o',
        'team.owner': 'w',
      },
    ],
  );
  t.teardown(() => exported.close());
  const rules = (ignore: boolean): unknown => ({
    otlp_config: {
      resource_attributes: {
        ignore_defaults: ignore,
        attributes_config: [
          { action: 'index_label', attributes: ['team.owner'] },
          { action: 'structured_metadata', attributes: ['telemetry.sdk.name'] },
        ],
      },
    },
  });
  const limits = JSON.stringify({ more: rules(false), only: rules(true) });
  await withFlags({ backend: exported.url, 'tenant-limits': limits }, async (asked) => {
    t.deepEqual(await data(asked, 'labels'), ['service_name']);
    t.deepEqual(await services(asked, '{team_owner="w"}'), []);
  });
  for (const [tenant, service] of [
    ['more', 'a'],
    ['only', 'unknown_service'],
  ] as const)
    await withFlags(
      {
        backend: exported.url,
        'tenant-limits': limits,
        'tenant-map': '{"more":{"account_id":"0"},"only":{"account_id":"0"}}',
      },
      async (asked) => {
        t.deepEqual(await data(asked, 'labels'), ['service_name', 'team_owner']);
        t.deepEqual(await services(asked, '{team_owner="w"}'), [service]);
      },
      { 'x-scope-orgid': tenant },
    );
});
