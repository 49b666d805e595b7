import { hourMs, linesOf, minuteMs, type Lab } from './lab.js';
import { errorOf, type Site } from './site.js';
import { refusedTail } from './tails.js';
import { expect, same, type Claim, type Section } from './section.js';

type Flags = Readonly<Record<string, string>>;

/** Pushes a stream with a dotted label and rows with dotted metadata and dotted JSON keys. */
async function dotted(lab: Lab, flags: Flags = {}): Promise<Site> {
  await lab.pushRows(
    ['service.name', 'env'],
    [
      { 'service.name': 'web', env: 'prod', 'k8s.pod.name': 'p1', _msg: '{"http.status":"200"}' },
      { 'service.name': 'web', env: 'test', 'k8s.pod.name': 'p2', _msg: '{"http.status":"500"}' },
    ],
  );
  return lab.site(flags);
}

async function labelNames(lab: Lab, site: Site, params = {}): Promise<readonly string[]> {
  const { data } = await site.json('labels', { ...lab.range(hourMs), ...params });
  return (data ?? []) as readonly string[];
}

interface Field {
  readonly label: string;
  readonly jsonPath?: readonly string[];
}

async function fields(lab: Lab, site: Site, query: string): Promise<readonly Field[]> {
  const answer = await site.json('detected_fields', { query, ...lab.range(hourMs) });
  return (answer['fields'] ?? []) as readonly Field[];
}

const reference = { selector: '{env=~".+"}', dottedMatcher: '{service.name="web"}' };

/** One row of the option matrix. */
interface Combination {
  readonly line: string;
  readonly style: string;
  readonly mode: string;
  readonly label: string;
  /** Names of the metadata field among detected fields. */
  readonly names: readonly string[];
  readonly takesDots: boolean;
}

const combinations: readonly Combination[] = [
  {
    line: '77, 99',
    style: 'underscores',
    mode: 'translated',
    label: 'service_name',
    names: ['k8s_pod_name'],
    takesDots: false,
  },
  {
    line: '78, 100',
    style: 'underscores',
    mode: 'hybrid',
    label: 'service_name',
    names: ['k8s.pod.name', 'k8s_pod_name'],
    takesDots: true,
  },
  {
    line: '101',
    style: 'underscores',
    mode: 'native',
    label: 'service_name',
    names: ['k8s.pod.name'],
    takesDots: true,
  },
  ...['translated', 'hybrid', 'native'].map((mode) => ({
    line: mode === 'native' ? '79, 102' : '102',
    style: 'passthrough',
    mode,
    label: 'service.name',
    names: ['k8s.pod.name'],
    takesDots: true,
  })),
];

function combinationClaim({ line, style, mode, label, names, takesDots }: Combination): Claim {
  const isReference = !takesDots;
  return {
    lines: `${line}, 60-61, 67-69, 90-91`,
    says: `${style} with ${mode}: the label is \`${label}\`, the field \`${names.join('` and `')}\`, dots in queries are ${takesDots ? 'taken' : 'refused'}, browsing parameters ${isReference ? 'ignored' : 'honoured'}`,
    probe: async (lab) => {
      const site = await dotted(lab, { 'label-style': style, 'metadata-field-mode': mode });
      expect((await labelNames(lab, site)).includes(label), `${label} is no label`);
      const found = (await fields(lab, site, reference.selector)).map((field) => field.label);
      for (const name of ['k8s.pod.name', 'k8s_pod_name'])
        same(found.includes(name), names.includes(name), `whether ${name} is among ${found.join()}`);
      const reply = await site.get('query_range', { query: reference.dottedMatcher, ...lab.range(hourMs) });
      same(reply.status, takesDots ? 200 : 400, 'the status of a dotted matcher');
      if (takesDots) expect(reply.text.includes('http.status'), 'a dotted matcher finds nothing');
      const browsed = await labelNames(lab, site, { limit: '1' });
      same(browsed.length === 1, takesDots, 'whether limit=1 leaves one name');
    },
  };
}

const dottedQueries: readonly (readonly [place: string, query: string])[] = [
  ['a matcher', '{service.name="web"}'],
  ['a label filter', '{env="prod"} | a.b="c"'],
  ['by', 'sum by (a.b) (rate({env="prod"}[1m]))'],
  ['without', 'sum without (a.b) (rate({env="prod"}[1m]))'],
  ['keep', '{env="prod"} | keep a.b'],
  ['drop', '{env="prod"} | drop a.b'],
  ['label_format', '{env="prod"} | label_format a.b=c'],
  ['a parameter of json', '{env="prod"} | json a.b="c"'],
  ['unwrap', 'sum_over_time({env="prod"} | unwrap a.b [1m])'],
];

export const names: Section = {
  title: 'Names of labels and fields',
  claims: [
    ...combinations.map(combinationClaim),
    ...dottedQueries.map(([place, query]): Claim => ({
      lines: '81, 408',
      says: `a dotted name in ${place} is Loki's parse error with line, column and what was expected, and asks the backend nothing`,
      isQuick: true,
      probe: async (lab) => {
        const site = await lab.site();
        for (const path of ['query', 'query_range']) {
          const error = errorOf(await site.get(path, { query }));
          expect(/^400 parse error at line 1, col \d+: syntax error: /.test(error), `${path}: ${error}`);
        }
        same(site.called, [], 'calls');
      },
    })),
    {
      lines: '81, 408',
      says: 'the same for every parameter with a selector: labels, values, series, index, patterns, detected fields, tail',
      probe: async (lab) => {
        const site = await lab.site();
        const query = reference.dottedMatcher;
        for (const [path, params] of [
          ['labels', { query }],
          ['label/env/values', { query }],
          ['series', { 'match[]': query }],
          ['index/stats', { query }],
          ['index/volume', { query }],
          ['index/volume_range', { query }],
          ['patterns', { query }],
          ['detected_fields', { query }],
          ['detected_labels', { query }],
          ['tail', { query }],
        ] as const) {
          const error =
            path === 'tail'
              ? await refusedTail(site, params)
              : errorOf(await site.get(path, { ...params, ...lab.range(hourMs) }));
          expect(error.includes('parse error at line 1, col 9'), `${path}: ${error}`);
        }
        same(site.called, [], 'calls');
      },
    },
    {
      lines: '81, 91',
      says: 'by default label routes ignore `limit`, `offset` and `search`; with `-label-browse-extensions=on` they apply',
      probe: async (lab) => {
        await lab.push(['a1', 'a2', 'b1'].flatMap((app) => linesOf({ app }, 1, minuteMs)));
        const ask = async (site: Site, params: Readonly<Record<string, string>>): Promise<unknown> =>
          (await site.json('label/app/values', { ...lab.range(hourMs), ...params })).data;
        const [plain, browsing] = [await lab.site(), await lab.site({ 'label-browse-extensions': 'on' })];
        for (const params of [{ limit: '1' }, { offset: '2' }, { search: 'b' }, { q: 'b' }])
          same(await ask(plain, params), ['a1', 'a2', 'b1'], `ignored ${JSON.stringify(params)}`);
        same(await ask(browsing, { limit: '1' }), ['a1'], 'limit');
        same(await ask(browsing, { offset: '2' }), ['b1'], 'offset');
        same(await ask(browsing, { search: 'b' }), ['b1'], 'search');
        same(await ask(browsing, { q: 'b' }), ['b1'], 'q');
      },
    },
    {
      lines: '90',
      says: 'where dots are refused, a dotted key of JSON is a detected field under its name as a label, with the key in `jsonPath`',
      probe: async (lab) => {
        const found = await fields(lab, await dotted(lab), reference.selector);
        const field = found.find(({ label }) => label === 'http_status');
        same(field?.jsonPath, ['http.status'], 'jsonPath');
        same(
          found.some(({ label }) => label === 'http.status'),
          false,
          'the dotted name',
        );
      },
    },
    {
      lines: '90, 104',
      says: 'where dots are taken, dotted keys of JSON are kept among detected fields; also with translated names',
      probe: async (lab) => {
        const site = await dotted(lab, { 'logql-dotted-names': 'accept' });
        const found = await fields(lab, site, '{service.name="web"}');
        expect(
          found.some(({ label }) => label === 'http.status'),
          `fields ${found.map((f) => f.label).join()}`,
        );
      },
    },
    {
      lines: '104',
      says: 'with passthrough, refusing dots leaves dotted labels unqueryable',
      probe: async (lab) => {
        const site = await dotted(lab, { 'label-style': 'passthrough', 'logql-dotted-names': 'reject' });
        same((await site.get('query_range', { query: '{service.name="web"}' })).status, 400, 'the status');
        expect((await labelNames(lab, site)).includes('service.name'), 'the label is not listed');
      },
    },
    {
      lines: '12, 60, 110',
      says: 'underscored names of OpenTelemetry are translated for the backend; `-translate-otel-attributes=false` leaves them',
      probe: async (lab) => {
        for (const translate of ['true', 'false']) {
          const site = await lab.site({ 'translate-otel-attributes': translate });
          await site.get('query_range', { query: '{k8s_pod_name="p"}', ...lab.range(hourMs) });
          const asked = site.relay.calls.map(({ args }) => args.get('query') ?? '').join('\n');
          same(
            asked.includes('k8s.pod.name'),
            translate === 'true',
            `with ${translate}: ${asked.slice(0, 200)}`,
          );
        }
      },
    },
    {
      lines: '112',
      says: '`-field-mapping` gives a field of the backend a name of its own',
      probe: async (lab) => {
        const mapping = JSON.stringify([{ vl_field: 'service.name', loki_label: 'svc' }]);
        const site = await dotted(lab, { 'field-mapping': mapping });
        same((await site.entries({ query: '{svc="web"}', ...lab.range(hourMs) })).length, 2, 'entries');
      },
    },
    {
      lines: '113',
      says: '`-stream-fields` is used for names of labels',
      probe: async (lab) => {
        await lab.pushRows(['custom.label'], [{ 'custom.label': 'x', _msg: 'y' }]);
        const site = await lab.site({ 'stream-fields': 'custom.label' });
        same(
          (await site.entries({ query: '{custom_label="x"}', ...lab.range(hourMs) })).length,
          1,
          'entries',
        );
      },
    },
    {
      lines: '113',
      says: '`-stream-fields` is used to make selectors of streams faster',
      differs: '`-stream-fields` tells names only',
      probe: async (lab) => {
        await lab.push([{ labels: { app: 'x' }, line: 'y', agoMs: minuteMs, metadata: { env: 'prod' } }]);
        const [hinted, plain] = [await lab.site({ 'stream-fields': 'env' }), await lab.site()];
        const asked: string[] = [];
        for (const site of [hinted, plain]) {
          await site.entries({ query: '{app="x"} | env="prod"', ...lab.range(hourMs) });
          const query = site.relay.calls.find(({ path }) => path.endsWith('/query'))?.args.get('query') ?? '';
          asked.push(query.replaceAll(/_time:\S+/g, ''));
        }
        expect(asked[0]?.includes('env:="prod"') === true, `the backend was asked ${asked[0] ?? ''}`);
        same(asked[0], asked[1], 'the query to the backend');
      },
    },
    {
      lines: '114-116, 225',
      says: '`-extra-label-fields` puts fields among the labels, and both spellings work for values and as targets of volumes',
      probe: async (lab) => {
        const site = await dotted(lab, { 'extra-label-fields': 'k8s.pod.name,k8s_pod_name' });
        const listed = await labelNames(lab, site);
        same(
          listed.filter((name) => /^k8s.pod.name$/.test(name)),
          ['k8s_pod_name'],
          'labels',
        );
        const { data } = await site.json('label/k8s_pod_name/values', lab.range(hourMs));
        same(data, ['p1', 'p2'], 'values');
        for (const path of ['index/volume', 'index/volume_range']) {
          const query = {
            query: reference.selector,
            targetLabels: 'k8s_pod_name',
            ...lab.range(hourMs),
            step: '60',
          };
          const { text } = await site.get(path, query);
          expect(text.includes('"k8s_pod_name":"p1"'), `${path}: ${text.slice(0, 200)}`);
        }
      },
    },
    {
      lines: '244',
      says: '`service_name` is a label of every stream',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs));
        const site = await lab.site();
        expect((await labelNames(lab, site)).includes('service_name'), 'it is not listed');
        same((await site.json('label/service_name/values', lab.range(hourMs))).data, ['web'], 'values');
      },
    },
    {
      lines: '244',
      says: '`detected_level` is a label on label routes',
      differs: '`detected_level` is no label',
      probe: async (lab) => {
        await lab.push(linesOf({ app: 'web' }, 2, minuteMs));
        const site = await lab.site();
        same((await labelNames(lab, site)).includes('detected_level'), false, 'whether it is listed');
        same((await site.json('label/detected_level/values', lab.range(hourMs))).data ?? [], [], 'values');
        const [entry] = await site.entries({ query: '{app="web"}', ...lab.range(hourMs) });
        same(entry?.labels['detected_level'], 'info', 'the level of an entry');
      },
    },
  ],
};
