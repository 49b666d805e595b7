import {
  classEndpoint,
  endpoint,
  frame,
  handling,
  metric,
  odd,
  oddEndpoint,
  schema,
  stage,
  withOptions,
} from './made-plugins.js';
import type { Site } from './site.js';

/**
 * The point at which a broken plugin is refused: by the checker, and so at startup; only at startup, because the plugin must be created to
 * find the defect; or at the first request, with a 500 that names it.
 */
export type Outcome = 'check' | 'start' | 'request' | 'runs';

export interface Case extends Site {
  readonly title: string;
  readonly outcome: Outcome;
  /** Text of the finding, the startup error or the log. */
  readonly says?: RegExp;
  readonly path?: string;
}

type Row = readonly [
  title: string,
  code: string,
  says?: RegExp | undefined,
  pipeline?: string,
  path?: string,
];

/** Refused by the checker and at startup, with the same message. */
const refused: readonly Row[] = [
  ['a module with an open bracket', 'export default {\n  kind: 1,\n', /R021 .*odd\.mjs:\d/],
  ['a module with a stray word', 'export default 1;\n\nfoo bar;\n', /R021 .*odd\.mjs:3/],
  [
    'a module that throws at its top',
    'const none = undefined;\nnone.name;\n',
    /R021 .*reading 'name'.*odd\.mjs:2/,
  ],
  ['a module that throws a text', "throw 'no';", /R021 .*cannot be loaded: no/],
  ['a module that imports what is not there', "import './nothing.mjs';", /R021 .*nothing\.mjs/],
  ['a module without a default export', 'export const one = 1;', /R021 .*no default export/],
  ['a module that exports a function', 'export default () => 1;', /R021 .*no default export/],
  ['a plugin of an unknown kind', stage("kind: 'filter',"), /R021 .*its kind is not/],
  ['a plugin without a name', stage("name: '',"), /R021 .*no name/],
  ['a plugin without create', stage('create: undefined,'), /R021 .*no create/],
  ['a stage without its needs', stage('needs: undefined,'), /R021 .*slots it needs/],
  ['a stage whose gives are a word', stage("gives: 'tenant',"), /R021 .*slots it gives/],
  ['a stage with an unknown rest', stage("rest: 'twice',"), /R021 .*rest is not/],
  ['a stage that needs a misspelt slot', stage("needs: ['tenent'],"), /R031 .*did you mean "tenant"/],
  ['a stage that needs what nobody gives', stage("needs: ['region'],"), /R031 .*region/],
  ['a stage that answers above the last one', stage("rest: 'never',"), /R034 /],
  ['a metric with a dash in its name', metric('a-b', "{ type: 'counter', help: 'h' }"), /R021 .*"a-b"/],
  ['a metric of the type summary', metric('odd', "{ type: 'summary', help: 'h' }"), /R021 .*"summary"/],
  ['a metric that says nothing of itself', metric('odd', "{ type: 'counter' }"), /R021 .*no help/],
  [
    'a metric with a bad label',
    metric('odd', "{ type: 'gauge', help: 'h', labels: ['a b'] }"),
    /R021 .*"a b"/,
  ],
  [
    'a metric with a label twice',
    metric('odd', "{ type: 'gauge', help: 'h', labels: ['a', 'a'] }"),
    /R021 .*twice/,
  ],
  [
    'a histogram with buckets that fall',
    metric('odd', "{ type: 'histogram', help: 'h', buckets: [2, 1] }"),
    /R021 .*buckets/,
  ],
  [
    'a metric that others declare otherwise',
    metric('requests_total', "{ type: 'gauge', help: 'h' }"),
    /R037 .*requests_total/,
  ],
  [
    'a metric of the process',
    metric('process_heap_bytes', "{ type: 'gauge', help: 'h' }"),
    /R037 .*process_heap_bytes/,
  ],
  [
    'a metric of the listeners',
    metric('http_connections', "{ type: 'counter', help: 'h' }"),
    /R037 .*http_connections/,
  ],
  ['a flag of the house', schema("a: { type: 'string', 'x-flag': 'listen' }"), /R037 .*-listen/],
  ['a flag of the command', schema("a: { type: 'string', 'x-flag': 'pipeline' }"), /R037 .*-pipeline/],
  [
    'a flag twice in one plugin',
    schema("a: { type: 'string', 'x-flag': 'odd' }, b: { type: 'string', 'x-flag': 'odd' }"),
    /R037 .*-odd/,
  ],
  [
    'a misspelt keyword in the schema',
    stage("schema: { type: 'object', propertys: {} },"),
    /R021 .*propertys/,
  ],
  ['an unknown type in the schema', schema("a: { type: 'text' }"), /R021 .*schema/],
  ['an unknown format in the schema', schema("a: { type: 'string', format: 'dration' }"), /R021 .*dration/],
  ['a pattern that is no pattern', schema("a: { type: 'string', pattern: '(' }"), /R021 .*schema/],
  [
    'a default that its own schema refuses',
    schema("a: { type: 'integer', default: 'one' }"),
    /R021 .*default/,
  ],
  ['a schema that is a word', stage("schema: 'none',"), /R021 .*schema/],
  [
    'a misspelt option',
    schema("region: { type: 'string' }"),
    /R007 .*did you mean "region"/,
    withOptions('{regoin: eu}'),
  ],
  ['an option of the wrong type', schema("size: { type: 'integer' }"), /R008 /, withOptions('{size: much}')],
  [
    'an option that is missing',
    schema("region: { type: 'string' }", "required: ['region']"),
    /R009 .*region/,
  ],
  ['an option for a plugin without any', stage(''), /R007 /, withOptions('{a: 1}')],
  [
    'a regular expression that is none',
    schema("line: { type: 'string', format: 'regexp' }"),
    /R008 /,
    withOptions('{line: "("}'),
  ],
  [
    'JSON that is none',
    schema("map: { type: 'string', format: 'json' }"),
    /R008 /,
    withOptions('{map: \'{"a":\'}'),
  ],
  [
    'a duration that is none',
    schema("every: { type: 'string', format: 'duration' }"),
    /R008 /,
    withOptions('{every: soon}'),
  ],
  [
    'a route on /ready',
    endpoint("ownRoutes: [{ id: 'odd', path: '/ready' }],"),
    /R021 .*\/ready/,
    oddEndpoint,
  ],
  [
    'a route with a known id',
    endpoint("ownRoutes: [{ id: 'labels', path: '/site/odd' }],"),
    /R021 .*"labels"/,
    oddEndpoint,
  ],
  [
    'a route without its slash',
    endpoint("ownRoutes: [{ id: 'odd', path: 'site' }],"),
    /R021 .*"site"/,
    oddEndpoint,
  ],
  [
    'a route with :name',
    endpoint("ownRoutes: [{ id: 'odd', path: '/site/:name' }],"),
    /R021 .*:name/,
    oddEndpoint,
  ],
  [
    'a route of the shape of a known one',
    endpoint("ownRoutes: [{ id: 'odd', path: '/loki/api/v1/label/{x}/values' }],"),
    /R021 .*belongs to/,
    oddEndpoint,
  ],
  [
    'two routes with one path',
    endpoint("ownRoutes: [{ id: 'odd', path: '/site/{a}' }, { id: 'b', path: '/site/{b}' }],"),
    /R021 .*belongs to/,
    oddEndpoint,
  ],
  [
    'routes that are a mapping',
    endpoint("ownRoutes: { odd: '/site/odd' },"),
    /R021 .*ownRoutes/,
    oddEndpoint,
  ],
  [
    'a route of the admin listener without a word',
    endpoint("ownRoutes: [{ id: 'odd', path: '/site/odd', listener: 'admin' }],"),
    /R021 .*servesAdmin/,
    oddEndpoint,
  ],
  [
    'a route of an unknown listener',
    endpoint("ownRoutes: [{ id: 'odd', path: '/site/odd', listener: 'side' }],"),
    /R021 .*"side"/,
    oddEndpoint,
  ],
  [
    'a route with an unknown method',
    endpoint("ownRoutes: [{ id: 'odd', path: '/site/odd', methods: ['FETCH'] }],"),
    /R021 .*FETCH/,
    oddEndpoint,
  ],
  ['a stage among the endpoints', stage(''), /R022 /, oddEndpoint],
  ['an endpoint among the stages', endpoint(''), /R022 /],
  [
    'a plugin that stands twice with one id',
    stage(''),
    /R023 /,
    frame('  - use: ./odd.mjs\n  - use: ./odd.mjs\n'),
  ],
  ['a file without the plugin', stage(''), /R020 .*no module/, frame('  - use: ./even.mjs\n')],
  ['a pipeline that never answers', stage(''), /R033 /, odd.replace('  - use: ./end.mjs\n', '')],
];

/** Plugins whose defect shows only when they are created. */
const unmade: readonly Row[] = [
  [
    'create that throws',
    stage("create() {\n throw new Error('no luck'); },"),
    /stage "odd" failed to create: no luck \(.*odd\.mjs:4/,
  ],
  ['create that gives nothing', stage('create: () => undefined,'), /stage "odd" .*no object/],
  ['a stage without handle', stage('create: () => ({}),'), /stage "odd" .*without handle/],
  [
    'a stage whose handle is a word',
    stage("create: () => ({ handle: 'on' }),"),
    /stage "odd" .*without handle/,
  ],
  [
    'start that throws',
    stage("create: () => ({ handle: (e, r) => r(e), start: async () => { throw new Error('no port'); } }),"),
    /stage "odd" failed to start: no port/,
  ],
  [
    'routes that are an object',
    endpoint('create: () => ({ routes: { odd: () => 1 } }),'),
    /endpoint "odd" .*not a Map/,
    oddEndpoint,
  ],
  ['an endpoint without routes', endpoint('create: () => ({}),'), /endpoint "odd" .*not a Map/, oddEndpoint],
  [
    'an own route without a handler',
    endpoint('create: () => ({ routes: new Map() }),'),
    /endpoint "odd" .*"odd" in ownRoutes has no handler/,
    oddEndpoint,
  ],
  [
    'a handler that is a word',
    endpoint("create: () => ({ routes: new Map([['odd', 'x']]) }),"),
    /endpoint "odd" .*not a function/,
    oddEndpoint,
  ],
  [
    'a handler of a route that is not declared',
    endpoint("create: () => ({ routes: new Map([['odd', () => 1], ['even', () => 1]]) }),"),
    /endpoint "odd" .*"even"/,
    oddEndpoint,
  ],
];

/** Plugins that start, and whose first request gets a 500. */
const failing: readonly Row[] = [
  ['a stage that gives nothing', handling('await rest(exchange);'), /returned undefined instead/],
  ['a stage that gives a text', handling("return 'done';", "rest: 'maybe',"), /returned a string instead/],
  [
    'a stage that gives a plain object',
    handling('await rest(exchange); return { values: [] };'),
    /without a kind/,
  ],
  [
    'an answer of an unknown kind',
    handling("await rest(exchange); return { kind: 'rows' };"),
    /unknown kind "rows"/,
  ],
  [
    'an answer without its values',
    handling("await rest(exchange); return { kind: 'names' };"),
    /without "values"/,
  ],
  [
    'a promised slot that is not given',
    handling('return rest(exchange);', "gives: ['region'],"),
    /the slot "region"/,
  ],
  [
    'a rest that is run twice',
    handling('await rest(exchange); return rest(exchange);'),
    /ran the rest of the chain 2 times/,
  ],
  [
    'a refusal that is caught',
    handling('const answer = await rest(exchange); await rest(exchange).catch(() => 0); return answer;'),
    /ran the rest of the chain 2 times/,
  ],
  [
    'a rest that is not run',
    handling("return { kind: 'names', values: [], warnings: [] };"),
    /ran the rest of the chain 0 times/,
  ],
  [
    'a label that is not declared',
    handling(
      "host.meters.seen.add(1, { team: 'a' }); return rest(exchange);",
      "metrics: { seen: { type: 'counter', help: 'h' } },",
    ),
    /ref_proxy_seen has no label "team"/,
  ],
  ['a stage that throws', handling('return exchange.none.name;'), /reading 'name'/],
  ['a stage that throws a text at a request', handling("throw 'no';"), /threw a non-Error value/],
  [
    'an endpoint that gives nothing',
    endpoint("create: () => ({ routes: new Map([['odd', async () => undefined]]) }),"),
    /returned undefined instead/,
    oddEndpoint,
    '/site/odd',
  ],
  [
    'an endpoint that gives a plain object',
    endpoint("create: () => ({ routes: new Map([['odd', async () => ({ ok: true })]]) }),"),
    /without a kind/,
    oddEndpoint,
    '/site/odd',
  ],
  [
    'an endpoint that throws',
    endpoint("create: () => ({ routes: new Map([['odd', () => { throw new TypeError('odd one'); }]]) }),"),
    /odd one/,
    oddEndpoint,
    '/site/odd',
  ],
];

/** Unusual but valid plugins. */
const sound: readonly Row[] = [
  ['a stage that does nothing', stage('')],
  [
    'a stage with a metric of its own',
    metric('odd_total', "{ type: 'counter', help: 'h', labels: ['team'] }"),
  ],
  ['a stage that shares a metric', metric('cache_hits_total', "{ type: 'counter', help: 'h' }")],
  [
    'a stage with options',
    schema("line: { type: 'string', format: 'regexp' }"),
    undefined,
    withOptions('{line: "a+"}'),
  ],
  ['an endpoint with a route of its own', endpoint(''), undefined, oddEndpoint, '/site/odd'],
  ['an endpoint whose start stands on a prototype', classEndpoint, undefined, oddEndpoint, '/site/odd'],
];

const cases = (outcome: Outcome, rows: readonly Row[]): readonly Case[] =>
  rows.map(([title, code, says, pipeline = odd, path]) => ({
    title,
    outcome,
    odd: code,
    pipeline,
    ...(says === undefined ? {} : { says }),
    ...(path === undefined ? {} : { path }),
  }));

const twoPlugins: readonly Case[] = [
  [
    'two plugins with one flag',
    schema("a: { type: 'string', 'x-flag': 'odd' }"),
    /R037 .*-odd/,
    frame('  - use: ./odd.mjs\n  - use: ./other.mjs\n'),
  ] as const,
  [
    'two plugins with one metric, each in its way',
    metric('odd', "{ type: 'counter', help: 'h' }"),
    /R037 .*"odd"/,
    frame('  - use: ./odd.mjs\n  - use: ./other.mjs\n'),
  ] as const,
  [
    'two plugins with one path',
    endpoint(''),
    /R037 .*\/site\/odd/,
    frame('', '  - use: ./odd.mjs\n  - use: ./other.mjs\n'),
  ] as const,
].map(([title, code, says, pipeline]) => ({
  title,
  outcome: 'check',
  says,
  pipeline,
  odd: code,
  other: code
    .replace("name: 'odd'", "name: 'other'")
    .replace("id: 'odd'", "id: 'b'")
    .replace("'counter'", "'gauge'"),
}));

export const brokenPlugins: readonly Case[] = [
  ...cases('check', refused),
  ...twoPlugins,
  ...cases('start', unmade),
  ...cases('request', failing),
  ...cases('runs', sound),
];
