import type { Random } from '../watch/random.js';
import { QueryWriter } from '../fuzz/logql.js';
import type { FuzzRequest } from '../fuzz/requests.js';

/** A marker in every text that tries to escape its quotes, after the part that might close them. */
export const breakout = 'zqout';

/** The mark in the texts of a step. A name made of one may contain it outside quotes, as a word. */
export function markOf(step: number): string {
  return `zq${step}v`;
}

/** The steps whose marks a text contains. */
export function stepsIn(text: string): ReadonlySet<number> {
  return new Set([...text.matchAll(/zq(\d+)v/g)].map(([, step]) => Number(step)));
}

/** Ends of texts: sequences that close quotes, lists, selectors and pipes in LogsQL, or that parsers may confuse with those. */
const tails: readonly string[] = [
  `" or ${breakout}:x`,
  `\\" or ${breakout}`,
  `\\`,
  `\\\\" ${breakout}`,
  `' or ${breakout}`,
  `\` or ${breakout}`,
  `*`,
  `") | delete ${breakout}`,
  `"} or {${breakout}="`,
  `",${breakout}="x`,
  `\n| ${breakout}`,
  `\r\n${breakout}`,
  `\u2028${breakout}`,
  `\u0000" ${breakout}`,
  `\ud800" ${breakout}`,
  `) or in(${breakout}`,
  `:${breakout}`,
  `#${breakout}`,
  ` | union (${breakout})`,
  `{{.${breakout}}}`,
  `<${breakout}>`,
  `\${${breakout}}`,
  `_time:5m ${breakout}`,
  `" options(ignore_global_time_filter=true) ${breakout}`,
  `,AccountID=0,${breakout}`,
  `&query=${breakout}`,
  '',
];

export function hostileText(random: Random, step: number): string {
  return `${markOf(step)}${random.pick(tails)}`;
}

/** A LogQL string literal: Go's quotes accept no lone surrogates, and otherwise the same escapes as JSON. */
function quoted(text: string): string {
  if (!text.includes('`') && text.length % 3 === 0) return `\`${text}\``;
  return JSON.stringify(text);
}

const regexpSigns = /[\\^$.*+?()[\]{}|]/g;

/** A query with hostile texts wherever LogQL accepts text. */
function hostileQuery(random: Random, step: number): string {
  const text = (): string => quoted(hostileText(random, step));
  const pattern = (): string =>
    quoted(`${random.pick(['', '.*', '(?i)'])}${hostileText(random, step).replaceAll(regexpSigns, '\\$&')}`);
  const name = `${markOf(step)}${random.pick(['', '_', '_or', 'delete'])}`;
  const known = random.pick(['service_name', 'env', 'level', 'pod']);
  const matchers = [
    'service_name=~".+"',
    random.pick([
      `${known}!=${text()}`,
      `${known}=${text()}`,
      `${known}!~${pattern()}`,
      `${known}=~${pattern()}`,
      `${name}!=${text()}`,
      `${name}=""`,
    ]),
  ];
  const stages = random.several(
    4,
    () =>
      random.pick([
        () => `${random.pick(['|=', '!='])} ${text()}`,
        () => `${random.pick(['|~', '!~'])} ${pattern()}`,
        () => `|= ${text()} or ${text()}`,
        () => `|> ${quoted(`<_>${hostileText(random, step)}<_>`)}`,
        () => `| json ${name}=${text()}`,
        () => `| logfmt ${name}=${text()}`,
        () => '| json',
        () => '| logfmt',
        () => `| regexp ${quoted(`(?P<${name}>.*)`)}`,
        () => `| pattern ${quoted(`<${name}> ${hostileText(random, step)} <_>`)}`,
        () => `| line_format ${text()}`,
        () => `| label_format ${name}=${text()}`,
        () => `| label_format ${name}=${known}`,
        () =>
          `| ${random.pick([known, name, 'status', 'detected_level'])}${random.pick(['=', '!='])}${text()}`,
        () => `| ${random.pick([known, name, 'status'])}${random.pick(['=~', '!~'])}${pattern()}`,
        () => `| ${random.pick(['drop', 'keep'])} ${name}=${text()}`,
        () => `| ${random.pick(['drop', 'keep'])} ${name}, level`,
      ])(),
    1,
  );
  const logs = `{${matchers.join(', ')}} ${stages.join(' ')}`;
  const range = `[${random.pick(['1m', '5m', '1h'])}]`;
  return random.pick([
    () => logs,
    () => logs,
    () => `sum by (${name}, level) (count_over_time(${logs} ${range}))`,
    () => `topk by (level) (3, rate(${logs} ${range}))`,
    () =>
      `sum without (${name}) (sum_over_time(${logs} | unwrap ${random.pick([name, 'duration_ms'])} ${range}))`,
    () =>
      `label_replace(sum by (level) (rate(${logs} ${range})), ${quoted(name)}, ${text()}, "level", "(.*)")`,
    () => `count_over_time(${logs} ${range}) / on (${name}) count_over_time({service_name=~".+"} ${range})`,
  ])();
}

const span: readonly (readonly [string, string])[] = [
  ['start', '1793494800000000000'],
  ['end', '1793498400000000000'],
];

/** Backend arguments that a client might try to inject. */
const ofBackend = [
  'AccountID',
  'ProjectID',
  'extra_filters',
  'extra_stream_filters',
  'hidden_fields_filters',
  'filter',
  'field',
  'fields_limit',
  'keep_const_fields',
  'query_args',
];

/** A request in which all texts have the mark of its step. */
export function hostileRequest(random: Random, step: number): FuzzRequest {
  const query = random.chance(0.8) ? hostileQuery(random, step) : new QueryWriter(random).query();
  const text = (): string => hostileText(random, step);
  // Commas separate names, and the part after a comma would be another name.
  const names = (): string => text().replaceAll(',', ';');
  const selector = `{service_name=~".+", env!=${quoted(text())}}`;
  const segment = (): string => encodeURIComponent(Buffer.from(text(), 'utf8').toString('utf8'));
  const [path, own] = random.pick<() => readonly [string, readonly (readonly [string, string])[]]>([
    () => ['query_range', [['query', query], ...(random.chance(0.5) ? [['step', '60'] as const] : [])]],
    () => ['query_range', [['query', query]]],
    () => [
      'query',
      [
        ['query', query],
        ['time', '1793498400'],
      ],
    ],
    () => ['labels', random.chance(0.5) ? [['query', selector]] : []],
    () => [`label/${random.chance(0.5) ? segment() : 'level'}/values`, [['query', selector]]],
    () => [
      'series',
      [
        ['match[]', selector],
        ['match[]', '{service_name=~".+"}'],
      ],
    ],
    () => ['index/stats', [['query', selector]]],
    () => [
      'index/volume',
      [
        ['query', selector],
        ['targetLabels', random.pick([names(), `level,${names()}`])],
      ],
    ],
    () => [
      'index/volume_range',
      [
        ['query', selector],
        ['targetLabels', names()],
        ['step', '300'],
      ],
    ],
    () => ['detected_fields', [['query', query]]],
    () => [`detected_field/${segment()}/values`, [['query', selector]]],
    () => ['detected_labels', [['query', selector]]],
    () => ['patterns', [['query', selector]]],
  ])();
  const isForm = random.chance(0.3);
  const more = random.chance(0.3) ? [[random.pick(ofBackend), text()] as const] : [];
  const headers: Record<string, string> = random.chance(0.3)
    ? {
        [random.pick(['AccountID', 'ProjectID', 'X-Attack', 'Authorization', 'Cookie', 'X-Query-Tags'])]:
          markOf(step),
      }
    : {};
  return {
    method: isForm ? 'POST' : 'GET',
    path: `/loki/api/v1/${path}`,
    params: [...own, ...span, ...more],
    headers,
    isForm,
  };
}
