import fc from 'fast-check';
import { EmbeddedTest } from '../../../../plugins/embedded-backend/logsql/index.js';
import type {
  ForeignTest,
  FieldRef,
  GroupKey,
  LogsqlFilter,
  EmbeddedPipe,
  EmbeddedQuery,
  MathExpr,
  MathOperator,
  SortKey,
  EmbeddedFunction,
  EmbeddedStatsName,
  StreamMatcher,
  UpdateRule,
  ValueTest,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import { formatIPv4, formatIPv6 } from '../../../../core/base/ip.js';
import { anyText } from './arbitrary-text.js';

export { anyText };

const name = anyText.map((text) => (text === '' ? '_msg' : text.endsWith('*') ? `${text}_` : text));
const prefix: fc.Arbitrary<FieldRef> = anyText.map((text) => ({ kind: 'prefix', prefix: text }));
const fieldRef: fc.Arbitrary<FieldRef> = fc.oneof(
  name.map((text) => ({ kind: 'name', name: text }) as const),
  prefix,
);
const filterField: fc.Arbitrary<FieldRef> = fc.oneof(
  name.filter((text) => text !== '_time').map((text) => ({ kind: 'name', name: text }) as const),
  prefix,
);
const texts = fc.uniqueArray(anyText, { minLength: 1, maxLength: 4 });
const number = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom('1.5s', '5KiB', '0x0A', '-3', '1e1', 'Inf'),
);
const pattern = fc.constantFrom('a.b', '(?i)x|y', '^"\\d+$', '[^a]', '\\Q"*\\E', '(?-s).', '', '.*', 'é');
const address4 = fc.nat({ max: 0xffffffff }).map(formatIPv4);
const address6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map(formatIPv6);

const plainTest: fc.Arbitrary<ValueTest> = fc.oneof(
  anyText.map((text) => ({ kind: 'phrase', text }) as const),
  anyText.map((text) => ({ kind: 'prefix', text }) as const),
  anyText.map((text) => ({ kind: 'exact', text }) as const),
  anyText.map((text) => ({ kind: 'exact-prefix', text }) as const),
  anyText.map((text) => ({ kind: 'substring', text }) as const),
  pattern.map((text) => ({ kind: 'regexp', pattern: text }) as const),
  texts.map((values) => ({ kind: 'in', values }) as const),
  fc.record({
    kind: fc.constant('compare'),
    op: fc.constantFrom('>', '>=', '<', '<='),
    value: fc.oneof(anyText, number),
  }),
  fc.record({ kind: fc.constant('ipv4-range'), from: address4, to: address4 }),
  anyText.map((type) => ({ kind: 'value-type', type }) as const),
  name.map((other) => ({ kind: 'lt-field', other }) as const),
);
const foreignTest: fc.Arbitrary<ForeignTest> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('contains-all', 'contains-any', 'json-array-contains-any'),
    values: texts,
  }),
  fc.record({ kind: fc.constant('any-case'), text: anyText, prefix: fc.boolean() }),
  texts.map((phrases) => ({ kind: 'sequence', phrases }) as const),
  fc.record({
    kind: fc.constant('range'),
    min: number,
    max: number,
    minIncluded: fc.boolean(),
    maxIncluded: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('ipv6-range'), from: address6, to: address6 }),
  fc.record({ kind: fc.constant('string-range'), from: anyText, to: anyText }),
  fc.record(
    { kind: fc.constant('len-range'), min: fc.nat(9), max: fc.nat(99) },
    { requiredKeys: ['kind', 'min'] },
  ),
  fc.record({ kind: fc.constantFrom('eq-field', 'le-field'), other: name }),
  fc.record({
    kind: fc.constant('pattern'),
    where: fc.constantFrom('any', 'full', 'prefix', 'suffix'),
    pattern: anyText,
  }),
);
const flatTest = fc.oneof(
  plainTest,
  foreignTest.map((test) => new EmbeddedTest(test)),
);

const matcher: fc.Arbitrary<StreamMatcher> = fc.oneof(
  fc.record({ kind: fc.constant('value'), label: name, op: fc.constantFrom('=', '!='), value: anyText }),
  fc.record({ kind: fc.constant('value'), label: name, op: fc.constantFrom('=~', '!~'), value: pattern }),
  fc.record({ kind: fc.constant('list'), label: name, op: fc.constantFrom('in', 'not_in'), values: texts }),
);
const instant = fc.bigInt({ min: -9_000_000_000_000_000_000n, max: 9_000_000_000_000_000_000n });
const groups = fc
  .array(fc.array(matcher, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((some): readonly (readonly StreamMatcher[])[] => some);

const leaf: fc.Arbitrary<LogsqlFilter> = fc.oneof(
  fc.constant({ kind: 'all' } as const),
  fc.record({ kind: fc.constant('stream'), groups: fc.oneof(groups, fc.constant([[]])) }),
  fc.record({ kind: fc.constant('time'), min: instant, max: instant }),
  instant.map((min) => ({ kind: 'time', min }) as const),
  instant.map((max) => ({ kind: 'time', max }) as const),
  fc.record(
    {
      kind: fc.constant('time-relative'),
      duration: fc.bigInt({ min: 0n, max: 10n ** 18n }),
      offset: fc.bigInt({ min: 0n, max: 10n ** 15n }),
    },
    { requiredKeys: ['kind', 'offset'] },
  ),
  fc.record({ kind: fc.constant('field'), field: filterField, test: flatTest }),
);

/** Filters of every kind except subqueries. */
export const anyFilter: fc.Arbitrary<LogsqlFilter> = fc.letrec<{ filter: LogsqlFilter }>((tie) => {
  const parts = fc.array(tie('filter'), { minLength: 2, maxLength: 3 });
  return {
    filter: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.record({ kind: fc.constant('and'), parts }),
      fc.record({ kind: fc.constant('or'), parts }),
      fc.record({ kind: fc.constant('not'), filter: tie('filter') }),
    ),
  };
}).filter;

const names = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });
const refs = fc.array(fieldRef, { minLength: 1, maxLength: 3 });
// The prefix of all fields includes the others, so a list does not contain it.
const someRefs = fc.array(
  fieldRef.filter((ref) => ref.kind === 'name' || ref.prefix !== ''),
  { maxLength: 3 },
);
const sortKeys: fc.Arbitrary<SortKey[]> = fc.array(fc.record({ field: name, desc: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
});
const condition = fc
  .option(anyFilter, { nil: undefined })
  .map((filter) => (filter === undefined ? {} : { condition: filter }));
const rule = fc.constantFrom<UpdateRule>({}, { rule: 'keep-original' }, { rule: 'skip-empty' });
const limit = fc
  .option(fc.nat(99), { nil: undefined })
  .map((count) => (count === undefined ? {} : { limit: count }));
const rankAs = fc.option(name, { nil: undefined }).map((as) => (as === undefined ? {} : { rankAs: as }));

const groupKey: fc.Arbitrary<GroupKey> = fc.oneof(
  name.map((field) => ({ field })),
  fc.record({
    field: name,
    bucket: fc.constantFrom(
      { size: '5m' },
      { size: '1h', offset: '-1ns' },
      { size: '100' },
      { size: 'day' },
      { size: '/24' },
    ),
  }),
);
const allRef: FieldRef = { kind: 'prefix', prefix: '' };
const statsRefs = someRefs.map((list): readonly FieldRef[] => (list.length === 0 ? [allRef] : list));
const plainStats: EmbeddedStatsName[] = [
  'count',
  'count_empty',
  'sum',
  'avg',
  'min',
  'max',
  'median',
  'stddev',
  'sum_len',
  'row_any',
  'rate_sum',
];
const statsFunction: fc.Arbitrary<EmbeddedFunction> = fc
  .tuple(
    fc.oneof(
      fc.record({ name: fc.constantFrom(...plainStats), fields: statsRefs }),
      fc.record({
        name: fc.constant('quantile' as const),
        fields: statsRefs,
        phi: fc.constantFrom(0, 0.5, 0.99, 1),
      }),
      fc.record({
        name: fc.constantFrom('row_min' as const, 'row_max' as const),
        source: name,
        fields: statsRefs,
      }),
      fc
        .record({
          name: fc.constantFrom('uniq_values' as const, 'values' as const, 'count_uniq' as const),
          fields: statsRefs,
        })
        .chain((call) => limit.map((cut) => ({ ...call, ...cut }))),
      fc.constant({ name: 'rate' as const, fields: [] }),
      sortKeys.map((sortBy) => ({ name: 'json_values' as const, fields: [allRef], sortBy })),
    ),
    condition,
    name,
  )
  .map(([call, when, as]) => ({ ...call, ...when, as }));

const mathField = name
  .filter((text) => !/^(?:\.?\d|inf$)/i.test(text))
  .map((text) => ({ kind: 'field', name: text }) as const);
const mathOperators: MathOperator[] = ['^', '*', '/', '%', '+', '-', '&', 'xor', 'or', 'default'];
const mathExpr: fc.Arbitrary<MathExpr> = fc.letrec<{ expr: MathExpr }>((tie) => ({
  expr: fc.oneof(
    { maxDepth: 3 },
    mathField,
    fc.constantFrom({ kind: 'number', text: '10' } as const, { kind: 'number', text: '1.5s' } as const),
    fc.record({ kind: fc.constant('negate'), operand: tie('expr') }),
    fc.record({
      kind: fc.constant('binary'),
      op: fc.constantFrom(...mathOperators),
      left: tie('expr'),
      right: tie('expr'),
    }),
    fc.record({
      kind: fc.constant('call'),
      name: fc.constantFrom('abs', 'round', 'ln'),
      args: fc.tuple(tie('expr')),
    }),
    fc.record({
      kind: fc.constant('call'),
      name: fc.constantFrom('max', 'min'),
      args: fc.tuple(tie('expr'), tie('expr')),
    }),
  ),
})).expr;

function withRule<T>(base: fc.Arbitrary<T>): fc.Arbitrary<T & { condition?: LogsqlFilter } & UpdateRule> {
  return fc.tuple(withCondition(base), rule).map(([pipe, ruled]) => ({ ...pipe, ...ruled }));
}

function withCondition<T>(base: fc.Arbitrary<T>): fc.Arbitrary<T & { condition?: LogsqlFilter }> {
  return fc.tuple(base, condition).map(([pipe, when]) => ({ ...pipe, ...when }));
}

/** Pipes of every kind. */
export const anyPipe: fc.Arbitrary<EmbeddedPipe> = fc.oneof(
  fc.record({ kind: fc.constantFrom('fields', 'delete'), fields: refs }),
  fc.record({
    kind: fc.constantFrom('copy', 'rename'),
    pairs: fc.array(fc.record({ from: fieldRef, to: fieldRef }), { minLength: 1, maxLength: 2 }),
  }),
  fc
    .tuple(sortKeys, fc.boolean(), fc.option(fc.nat(9), { nil: undefined }), limit, rankAs, names)
    .map(([by, desc, offset, cut, ranked, partition]) => ({
      kind: 'sort' as const,
      by,
      desc,
      partitionBy: cut.limit === undefined ? [] : partition,
      ...(offset === undefined ? {} : { offset }),
      ...cut,
      ...ranked,
    })),
  fc
    .tuple(
      fc.constantFrom('first' as const, 'last' as const),
      fc.integer({ min: 1, max: 9 }),
      sortKeys,
      rankAs,
    )
    .map(([kind, count, by, ranked]) => ({
      kind,
      count,
      by,
      partitionBy: [],
      ...ranked,
    })),
  fc.record({ kind: fc.constantFrom('limit', 'offset'), count: fc.nat(99) }),
  fc
    .record({
      kind: fc.constantFrom('stats', 'running_stats', 'total_stats'),
      by: fc.uniqueArray(groupKey, { maxLength: 2, selector: (key) => key.field }),
      functions: fc.uniqueArray(statsFunction, { minLength: 1, maxLength: 2, selector: (func) => func.as }),
    })
    .filter(({ by, functions }) => functions.every((func) => by.every((key) => key.field !== func.as))),
  fc
    .tuple(names, fc.boolean(), limit)
    .map(([by, hits, cut]) => ({ kind: 'uniq' as const, by, hits, ...cut })),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), names, name, rankAs)
    .filter(([, by, hitsAs, ranked]) => !by.includes(hitsAs) && !by.includes(ranked.rankAs ?? ''))
    .map(([count, by, hitsAs, ranked]) => ({ kind: 'top' as const, count, by, hitsAs, ...ranked })),
  anyFilter.map((filter) => ({ kind: 'filter', filter }) as const),
  fc.record({
    kind: fc.constant('math'),
    entries: fc.array(fc.record({ expr: mathExpr, as: name }), { minLength: 1, maxLength: 2 }),
  }),
  withRule(
    fc.record({
      kind: fc.constant('format'),
      pattern: fc.constantFrom('a<b>c', '<q:x>"', '\n<lc:y>', 'plain'),
      as: name,
    }),
  ),
  withRule(
    fc.record({
      kind: fc.constant('extract'),
      pattern: fc.constantFrom('a<b>c', '"<x>" <y>'),
      from: name,
    }),
  ),
  withRule(
    fc.record({
      kind: fc.constant('extract_regexp'),
      pattern: fc.constantFrom('(?P<a>\\d+)', '"(?P<b>[^"]*)"'),
      from: name,
    }),
  ),
  withRule(
    fc.record({
      kind: fc.constantFrom('unpack_json', 'unpack_logfmt'),
      from: name,
      fields: someRefs,
      prefix: anyText,
    }),
  ),
  fc
    .tuple(
      fc.constantFrom('replace' as const, 'replace_regexp' as const),
      pattern,
      anyText,
      name,
      limit,
      condition,
    )
    .map(([kind, old, replacement, at, cut, when]) => ({
      kind,
      old,
      replacement,
      at,
      ...cut,
      ...when,
    })),
  fc.record({ kind: fc.constantFrom('len', 'hash', 'json_array_len'), field: name, as: name }),
  fc.record({ kind: fc.constantFrom('pack_json', 'pack_logfmt'), fields: someRefs, as: name }),
  withCondition(fc.record({ kind: fc.constant('unroll'), by: names })),
  fc.record({ kind: fc.constant('split'), separator: anyText, from: name, as: name }),
  withCondition(fc.record({ kind: fc.constant('collapse_nums'), at: name, prettify: fc.boolean() })),
  fc.record({ kind: fc.constant('decolorize'), field: name }),
  fc.constant({ kind: 'drop_empty_fields' } as const),
  fc.record({ kind: fc.constant('field_names'), as: name }),
  fc.tuple(name, limit).map(([field, cut]) => ({ kind: 'field_values' as const, field, ...cut })),
  fc.tuple(limit, fc.boolean()).map(([cut, keepConst]) => ({ kind: 'facets' as const, ...cut, keepConst })),
);

/** Whole queries, some of them with a leading subquery. */
export const anyQuery: fc.Arbitrary<EmbeddedQuery> = fc
  .tuple(
    fc.record(
      {
        concurrency: fc.nat(16),
        parallelReaders: fc.nat(16),
        ignoreGlobalTimeFilter: fc.boolean(),
        allowPartialResponse: fc.boolean(),
        timeOffset: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
      },
      { requiredKeys: [] },
    ),
    anyFilter,
    fc.array(anyPipe, { maxLength: 3 }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([options, filter, own, nested, isUnited]) => {
    const others: EmbeddedQuery = { filter, pipes: own };
    const pipes = isUnited ? [...own, { kind: 'union' as const, query: others }] : own;
    const chosen = Object.keys(options).length === 0 ? {} : { options };
    if (!nested) return { ...chosen, filter, pipes };
    const inner: EmbeddedQuery = {
      filter,
      pipes: [{ kind: 'fields', fields: [{ kind: 'name', name: 'id' }] }],
    };
    const test = new EmbeddedTest({ kind: 'subquery', test: 'in', query: inner });
    return { ...chosen, filter: { kind: 'field', field: { kind: 'name', name: 'id' }, test }, pipes };
  });
