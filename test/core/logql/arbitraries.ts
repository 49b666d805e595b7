import fc from 'fast-check';
import type {
  BinaryOp,
  Grouping,
  LabelFilter,
  LogExpr,
  Matcher,
  MetricExpr,
  RangeAggregation,
  Span,
  Stage,
  Unwrap,
  VectorMatching,
} from '../../../core/logql/index.js';

// Trees are the same as from the parser, except for their positions in a text.
const span: Span = { start: 0, end: 0 };
const second = 1_000_000_000n;
const name = fc.constantFrom('a', 'b_1', 'App', 'sum', 'duration', '__error__', 'vector');
const text = fc.oneof(
  fc.constantFrom('', 'x', 'a b', '`', '"', '\\', '\n\t', '\u00e9\u{1f600}', '<_> a', '#'),
  fc.string(),
);
const regex = fc.constantFrom('', 'x', 'a|b', '.*x', 'a.+', '(?i)x', '\\d+', '[`"]');
const numberValue = fc.oneof(
  fc.constantFrom(0, 1, 5.5, 1e-7, 1e21, 123456789),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
);
const labels = fc.array(name, { maxLength: 3 });

function matcherOf(value: fc.Arbitrary<string>): fc.Arbitrary<Matcher> {
  const plain = fc.tuple(fc.constantFrom('=' as const, '!=' as const), value);
  const matching = fc.tuple(fc.constantFrom('=~' as const, '!~' as const), regex);
  return fc
    .tuple(name, fc.oneof(plain, matching))
    .map(([label, [op, content]]) => ({ kind: 'matcher', name: label, op, value: content, span }));
}

const matcher = matcherOf(text);
const compareOp = fc.constantFrom(
  '==' as const,
  '!=' as const,
  '>' as const,
  '>=' as const,
  '<' as const,
  '<=' as const,
);
const nanoseconds = fc.integer({ min: 1, max: 10 ** 9 }).map((millis) => BigInt(millis) * 1_000_000n);

const leaf: fc.Arbitrary<LabelFilter> = fc.oneof(
  matcher.map(({ name: label, op, value }) => ({ kind: 'string', name: label, op, value, span }) as const),
  fc.tuple(name, compareOp, numberValue, fc.boolean()).map(([label, op, value, isNegative]) => {
    return {
      kind: 'number',
      name: label,
      op,
      value: isNegative && value > 0 ? -value : value,
      span,
    } as const;
  }),
  fc.tuple(name, compareOp, nanoseconds).map(([label, op, size]) => {
    return { kind: 'duration', name: label, op, nanoseconds: size, span } as const;
  }),
  // Sizes that survive printing with two digits.
  fc.tuple(name, compareOp, fc.constantFrom(7, 12, 1000, 1500, 2e6, 5e15)).map(([label, op, bytes]) => {
    return { kind: 'bytes', name: label, op, bytes, span } as const;
  }),
  fc.tuple(name, fc.constantFrom('=' as const, '!=' as const), text).map(([label, op, value]) => {
    return { kind: 'ip', name: label, op, value, span } as const;
  }),
);

const labelFilter: fc.Arbitrary<LabelFilter> = fc.letrec<{ filter: LabelFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), tie('filter'), tie('filter'))
      .map(([kind, left, right]) => {
        return { kind, left, right, span };
      }),
  ),
})).filter;

const param = fc.tuple(name, text).map(([label, path]) => ({ name: label, path, span }));
const params = fc.array(param, { maxLength: 2 });
const term = fc
  .tuple(fc.constantFrom('text' as const, 'ip' as const), text)
  .map(([kind, value]) => ({ kind, value, span }));
const item = fc.oneof(
  name.map((label) => ({ name: label, matcher: undefined, span })),
  matcher.map((made) => ({ name: made.name, matcher: made, span })),
);
const items = fc.array(item, { minLength: 1, maxLength: 3 });
const assignment = fc.oneof(
  fc.tuple(name, name).map(([label, source]) => ({ kind: 'rename', name: label, source, span }) as const),
  fc
    .tuple(name, text)
    .map(([label, template]) => ({ kind: 'template', name: label, template, span }) as const),
);

const stage: fc.Arbitrary<Stage> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('|=' as const, '|~' as const, '|>' as const),
      fc.array(term, { minLength: 1, maxLength: 3 }),
    )
    .map(([op, alternatives]) => ({ kind: 'line-filter', op, alternatives, span }) as const),
  fc
    .tuple(fc.constantFrom('!=' as const, '!~' as const, '!>' as const), term)
    .map(([op, only]) => ({ kind: 'line-filter', op, alternatives: [only], span }) as const),
  params.map((list) => ({ kind: 'json', params: list, span }) as const),
  fc.tuple(fc.boolean(), fc.boolean(), params).map(([strict, keepEmpty, list]) => {
    return { kind: 'logfmt', strict, keepEmpty, params: list, span } as const;
  }),
  fc.constantFrom('(?P<a>x)', '(?<b>\\w+) `').map((pattern) => ({ kind: 'regexp', pattern, span }) as const),
  fc.constantFrom('<a> <_>', 'x <b>"').map((pattern) => ({ kind: 'pattern', pattern, span }) as const),
  fc.constantFrom({ kind: 'unpack', span } as const, { kind: 'decolorize', span } as const),
  labelFilter.map((filter) => ({ kind: 'label-filter', filter, span }) as const),
  text.map((template) => ({ kind: 'line-format', template, span }) as const),
  fc.array(assignment, { minLength: 1, maxLength: 3 }).map((assignments) => {
    return { kind: 'label-format', assignments, span } as const;
  }),
  fc
    .tuple(fc.constantFrom('drop' as const, 'keep' as const), items)
    .map(([kind, list]) => ({ kind, items: list, span })),
);

/** The parser always reads `drop a != "x"` as a matcher, so a line filter cannot follow a bare name. */
function isAmbiguous(stages: readonly Stage[]): boolean {
  return stages.some((made, index) => {
    const next = stages[index + 1];
    const endsBare =
      (made.kind === 'drop' || made.kind === 'keep') && made.items.at(-1)?.matcher === undefined;
    return endsBare && next?.kind === 'line-filter' && (next.op === '!=' || next.op === '!~');
  });
}

/** Log queries that pass all checks. */
export const logExpr: fc.Arbitrary<LogExpr> = fc
  .tuple(
    fc.array(matcher, { maxLength: 3 }),
    fc.array(stage, { maxLength: 4 }).filter((stages) => !isAmbiguous(stages)),
  )
  .map(([matchers, stages]) => ({
    kind: 'log',
    selector: {
      kind: 'selector',
      matchers: [{ kind: 'matcher', name: 'z', op: '=', value: '1', span }, ...matchers],
      span,
    },
    stages,
    span,
  }));

const unwrap: fc.Arbitrary<Unwrap> = fc
  .tuple(
    name,
    fc.constantFrom(undefined, 'bytes' as const, 'duration' as const, 'duration_seconds' as const),
    fc.array(labelFilter, { maxLength: 2 }),
  )
  .map(([label, conversion, filters]) => ({
    kind: 'unwrap',
    name: label,
    conversion,
    filters: filters.map((filter) => ({ kind: 'label-filter', filter, span })),
    span,
  }));

const grouping: fc.Arbitrary<Grouping | undefined> = fc.oneof(
  fc.constant(undefined),
  labels.map((list) => ({ without: true, labels: list, span })),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((list) => ({ without: false, labels: list, span })),
);

const rangeAggregation: fc.Arbitrary<RangeAggregation> = fc
  .tuple(
    fc.oneof(
      fc.tuple(
        fc.constantFrom('rate' as const, 'bytes_rate' as const),
        fc.constant(undefined),
        fc.constant(undefined),
      ),
      fc.tuple(fc.constantFrom('max_over_time' as const, 'last_over_time' as const), unwrap, grouping),
      fc.tuple(fc.constantFrom('quantile_over_time' as const), unwrap, grouping),
    ),
    logExpr,
    numberValue,
    fc.integer({ min: 0, max: 10 ** 7 }),
    fc.integer({ min: -(10 ** 6), max: 10 ** 6 }),
  )
  .map(([[op, unwrapped, group], query, parameter, interval, offset]) => ({
    kind: 'range-aggregation',
    op,
    parameter: op === 'quantile_over_time' ? parameter : undefined,
    range: {
      kind: 'log-range',
      query,
      unwrap: unwrapped,
      intervalNanoseconds: BigInt(interval) * second,
      offsetNanoseconds: BigInt(offset) * second,
      span,
    },
    grouping: group,
    span,
  }));

const matching: fc.Arbitrary<VectorMatching | undefined> = fc.oneof(
  fc.constant(undefined),
  fc
    .tuple(fc.boolean(), labels, fc.constantFrom(undefined, 'left' as const, 'right' as const), labels)
    .map(([on, list, group, include]) => ({
      // An empty `ignoring` is not printed.
      on: on || list.length === 0,
      labels: list,
      group,
      include: group === undefined ? [] : include,
      span,
    })),
);

const vector = numberValue.map(
  (value) => ({ kind: 'vector', value: Number(value.toFixed(6)), span }) as const,
);
const binaryOp = fc.constantFrom<BinaryOp[]>(
  'or',
  'and',
  'unless',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
  '^',
);

/** Metric expressions that pass all checks, with literals only where nothing folds them. */
export const metricExpr: fc.Arbitrary<MetricExpr> = fc.letrec<{ metric: MetricExpr }>((tie) => ({
  metric: fc.oneof(
    { maxDepth: 3 },
    rangeAggregation,
    vector.filter(({ value }) => value < 1e15),
    fc
      .tuple(fc.constantFrom('sum' as const, 'avg' as const), grouping, tie('metric'))
      .map(([op, group, expr]) => {
        return { kind: 'vector-aggregation', op, parameter: undefined, grouping: group, expr, span } as const;
      }),
    fc.tuple(fc.integer({ min: 1, max: 99 }), grouping, tie('metric')).map(([parameter, group, expr]) => {
      return { kind: 'vector-aggregation', op: 'topk', parameter, grouping: group, expr, span } as const;
    }),
    fc
      .tuple(binaryOp, fc.boolean(), matching, tie('metric'), tie('metric'))
      .map(([op, returnBool, how, left, right]) => {
        // In `group_left (a + b)` the parenthesis would start a list of labels.
        const matched =
          how?.group !== undefined && right.kind === 'binary' ? { ...how, include: ['a'] } : how;
        return { kind: 'binary', op, returnBool, matching: matched, left, right, span } as const;
      }),
    fc.tuple(tie('metric'), numberValue).map(([left, value]) => {
      const right = { kind: 'literal', value, span } as const;
      return { kind: 'binary', op: '*', returnBool: false, matching: undefined, left, right, span } as const;
    }),
    fc
      .tuple(tie('metric'), text, text, text, regex)
      .map(([expr, destination, replacement, source, pattern]) => {
        return {
          kind: 'label-replace',
          expr,
          destination,
          replacement,
          source,
          regex: pattern,
          span,
        } as const;
      }),
  ),
})).metric;
