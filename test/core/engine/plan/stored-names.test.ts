import test from 'ava';
import fc from 'fast-check';
import type { PipelineEntry } from '../../../../core/logql/pipeline/types.js';
import type { LogsqlFilter } from '../../../../core/victoria/logsql/ast.js';
import { compileExtractor } from '../../../../core/logql/pipeline/extractor.js';
import { compilePipeline } from '../../../../core/logql/pipeline/output.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { NamesOptions } from '../../../../core/base/options.gen.js';
import { pipelineEntry, RowReader } from '../../../../core/victoria/names/row-reader.js';
import { storedNames } from '../../../../core/victoria/names/name-learner.js';
import type { OpenLogs } from '../../../../core/engine/plan/logs.js';
import { missingLineRows } from '../../../../core/engine/plan/missing-lines.js';
import { rowsOf, type Fields } from '../../../plugins/embedded-backend/logsql/run-query.js';
import { deepRuns } from '../../../setup/runs.js';
import { openLogs } from './planned.js';

const naming = new Naming(namesOptions());

function open(text: string, names = naming, stored: readonly string[] = []): OpenLogs {
  const ast = parseQuery(text);
  if (ast.kind !== 'log') throw new Error('not a log query');
  return openLogs(ast, names, 'on', stored);
}

function refined(stages: string, fields: readonly string[], unknownFromNs?: bigint): string {
  const names = { ...storedNames(fields, naming), unknownFromNs };
  return printFilter(open(`{app="x"} ${stages}`).close(names).filter);
}

const missing = printFilter(missingLineRows(naming));

function above5(name: string): string {
  const types = ['uint8', 'uint16', 'uint32', 'uint64', 'int64'].map(
    (type) => `${name}:value_type("${type}")`,
  );
  const plain = `${name}:~"^-?[0-9]{1,15}([.][0-9]{1,15})?$" !${name}:~"^-?[0-9.]{17,}$"`;
  return `(${name}:* !(${name}:<="5" (${types.join(' or ')} or ${plain})) or {${name}!=""})`;
}

const pushes: readonly (readonly [stages: string, fields: readonly string[], filter: string])[] = [
  [
    '| team_owner="web"',
    ['team.owner'],
    '(team_owner:="web" or {team_owner="web"} or team.owner:="web" or {team.owner="web"})',
  ],
  ['| a="1.5"', ['a'], '(a:="1.5" or {a="1.5"} or a:~"^-?[0-9.]{17,}$")'],
  ['| a=~"x|y"', ['a'], '(a:in("x","y") or {a=~"x|y"})'],
  ['| a=~"x.+"', ['a'], '(a:~"^(?:x.+)$" or {a=~"x.+"} or a:~"^-?[0-9.]{17,}$")'],
  ['| a!=""', ['a'], 'a:*'],
  ['| a="caf\ufffd"', ['a'], 'a:*'],
  ['| a=~"caf\ufffd|b"', ['a'], 'a:*'],
  ['| a=""', ['a', 'scope.attributes.a'], `(!a:* or ${missing})`],
  ['| a_b=""', ['a_b', 'a.b'], `(!a_b:* !a.b:* or ${missing})`],
  ['| a!="v"', ['a'], `(!(a:in("v") {a in ("v") or a=""}) or ${missing})`],
  ['| a > 5', ['a'], above5('a')],
  ['| a="x" | b > 5', ['a', 'b'], `(a:="x" or {a="x"}) ${above5('b')}`],
  ['| a > 5 and b="x"', ['a'], `${above5('a')} (b:="x" or {b="x"})`],
  ['| a!~"v.*" and b="x"', ['a', 'b'], '(b:="x" or {b="x"})'],
  ['| a="x" and b!~"v.*"', ['a', 'b'], '(a:="x" or {a="x"})'],
  ['| a="x" or b=ip("10.0.0.0/8")', ['a'], '(a:="x" or {a="x"} or b:*)'],
  ['| json | a="xy"', ['a', 'user'], String.raw`(_msg:*"xy"* or _msg:*"\\u"* or a:="xy" or {a="xy"})`],
  [
    '| json | logfmt | a="xy"',
    ['a', 'user'],
    String.raw`(_msg:*"xy"* or _msg:*"\\u"* or ${missing} or a:="xy" or {a="xy"})`,
  ],
  [
    '| pattern "<a> <_>" | a=ip("10.1.0.0/16")',
    ['a'],
    String.raw`(_msg:*"10.1."* or _msg:*"\\u"* or ${missing} or a:*)`,
  ],
  ['| json b="c" | a="x"', ['a'], '(a:="x" or {a="x"})'],
  [
    '| scope_tier="x"',
    ['scope.attributes.scope.tier'],
    '(scope_tier:="x" or {scope_tier="x"} or scope.attributes.scope.tier:="x" or {scope.attributes.scope.tier="x"})',
  ],
];

for (const [stages, fields, filter] of pushes) {
  test(`${stages} asks ${filter}`, (t) => {
    t.is(refined(stages, fields), `{app="x"} ${filter}`);
  });
}

const left: readonly (readonly [stages: string, why: string])[] = [
  ['| json | a="x"', 'a may come from the line'],
  ['| regexp "(?P<a>x)" | a="x"', 'a is captured'],
  ['| label_format a=b | a="x"', 'a is another label'],
  ['| drop a | a=""', 'a is gone'],
  ['| keep b | a=""', 'a is gone'],
  ['| json b="c" | b_extracted="x"', 'the parsed label may be renamed'],
  ['| pattern "<a> <_>" | a=ip("0.0.0.0/1")', 'the addresses have no number in common'],
  ['| pattern "<a> <_>" | a!=ip("10.1.0.0/16")', 'other addresses pass'],
  ['| json b="c" | a > 5', 'rows with errors pass'],
  ['| a > 5 or json_error=""  | detected_level="info"', 'most lines have that level'],
  ['| json | detected_level="error"', 'the level may come from the line'],
  ['| service_name="x"', 'the name is made here'],
  ['| severity_text!="Info"', 'filled-in values are missing'],
  ['| a!="v"', 'two fields may be meant'],
  ['| c_d!="v"', 'two fields may be meant'],
  ['| e!="v"', 'only some rows show the field under that name'],
];

for (const [stages, why] of left) {
  test(`${stages} is left to the proxy: ${why}`, (t) => {
    const fields = [
      'a',
      'scope.attributes.a',
      'c.d',
      'c_d',
      'scope.attributes.e',
      'severity_text',
      'json_error',
    ];
    t.false(/[abde_]:=|in\(|Info|_msg:\*"/.test(refined(stages, fields)), refined(stages, fields));
  });
}

test('rows that came after the names were learned are not filtered by them', (t) => {
  t.is(
    refined('| a="x"', ['a'], 1793491200000000000n),
    '{app="x"} (a:="x" or {a="x"} or _time:>=2026-11-01T00:00:00.000000000Z)',
  );
});

test('names are learned for label filters on stored fields, for line filters of rows without a line, and for nothing else', (t) => {
  const learns = (query: string): string | undefined => {
    const { wanted } = open(query);
    return wanted === undefined ? undefined : printFilter(wanted);
  };
  t.is(learns('{app="x"} |= "y" | a="x"'), '{app="x"}');
  const missing = printFilter(missingLineRows(naming));
  t.is(learns('{app="x"} |= "y"'), `{app="x"} (${missing})`);
  t.is(learns('{app="x"} != "y"'), undefined);
  t.is(learns('{app="x"} | json | a="x"'), undefined);
  t.is(learns('{app="x"} | detected_level="error"'), '{app="x"}');
  t.is(learns('{app="x"} | detected_level="info"'), undefined);
});

test('a label is selected by its stored stream fields', (t) => {
  const select = (query: string, ...stored: readonly string[]): string =>
    printFilter(open(query, naming, stored).close(undefined).filter);
  t.is(select('{app="x", pod_name="v"}'), '{app="x",pod_name="v"}');
  t.is(select('{app="x", pod_name="v"}', 'app', 'other'), '{app="x",pod_name="v"}');
  t.is(select('{pod_name="v"}', 'pod.name'), '{pod_name="v" or pod_name="",pod.name="v"}');
  t.is(
    select('{app="x", pod_name!="v"}', 'pod.name'),
    '{app="x"} !({pod_name="v" or pod_name="",pod.name="v"})',
  );
  t.is(
    select('{app="x", pod_name=~"v|"}', 'pod.name'),
    '{app="x"} {pod_name=~"v|",pod_name!="" or pod_name="",pod.name=~"v|",pod.name!="" or pod_name="",pod.name=""}',
  );
});

test('stream fields that an export would keep as metadata select none of its streams', (t) => {
  const { selection } = open('{host_name="v"}', naming, ['host.name', 'telemetry.sdk.name', 'app']);
  t.is(
    printFilter(selection),
    '{telemetry.sdk.name!="",app=""} {host_name="v"} or !({telemetry.sdk.name!="",app=""}) {host_name="v" or host_name="",host.name="v"}',
  );
});

const fieldNames = [
  'a',
  'a.b',
  'a_b',
  'a/b',
  'scope.attributes.a.b',
  'host.name',
  'severity_text',
  'severity_number',
  'trace_id',
  'app',
  'level',
  'log.level',
];
const lines = [
  'm',
  'an ERROR',
  'x wRn',
  'terror',
  'level=fatal x',
  '{"lvl":"Err"}',
  '{"level":"odd","m":"wrn"}',
  '',
];
const values = ['x', 'y', 'Info', '9', '0', '0.3', '0.30000000000000004', '000', '10.0.0.1', 'xx', 'a\nb'];
const anyRow = fc
  .record({
    stream: fc.dictionary(fc.constantFrom('app', 'host.name', 'a', 'a.b'), fc.constantFrom('x', 'y'), {
      maxKeys: 3,
    }),
    fields: fc.dictionary(fc.constantFrom(...fieldNames), fc.constantFrom(...values), { maxKeys: 4 }),
    line: fc.constantFrom(...lines),
  })
  .map(({ stream, fields, line }): Fields => {
    const text = Object.entries(stream).map(([name, value]) => `${name}="${value}"`);
    return {
      _time: '2026-11-01T00:00:00Z',
      _stream: `{${text.join(',')}}`,
      _msg: line,
      ...stream,
      ...fields,
    };
  });
const anyName = fc.constantFrom(
  'a',
  'a_b',
  'host_name',
  'severity_text',
  'severity_number',
  'trace_id',
  'app',
  'app_extracted',
  'detected_level',
);
const anyTest = fc.oneof(
  fc.tuple(anyName, fc.constantFrom('=', '!='), fc.constantFrom('', ...values)),
  fc.tuple(
    anyName,
    fc.constantFrom('=~', '!~'),
    fc.constantFrom('x|y', 'x.*', '|x', '.+', '.*', '(?i)X', '0\\\\.3', 'a.b'),
  ),
);
const anyLevel = fc.oneof(
  fc
    .constantFrom('error', 'warn', 'fatal', 'info', 'x', 'unknown')
    .map((level) => `detected_level="${level}"`),
  fc.constantFrom('error|warn', 'fatal|x', 'err.*').map((levels) => `detected_level=~"${levels}"`),
);
const anyComparison = fc.oneof(
  anyLevel,
  anyTest.map(([name, op, value]) => `${name}${op}${JSON.stringify(value).replaceAll('\\\\\\\\', '\\\\')}`),
  fc.tuple(anyName, fc.constantFrom('>', '<=', '!=')).map(([name, op]) => `${name} ${op} 5`),
  anyName.map((name) => `${name} != ip("10.0.0.0/8")`),
);
const anyFilter = fc.oneof(
  anyComparison,
  fc.tuple(anyComparison, fc.constantFrom('and', 'or'), anyComparison).map((parts) => parts.join(' ')),
  fc
    .tuple(
      anyComparison,
      anyComparison,
      anyComparison,
      fc.constantFrom('A and (B or C)', 'A and B and C', 'A or B and C'),
    )
    .map(([a, b, c, form]) =>
      form
        .replace('A', () => a)
        .replace('B', () => b)
        .replace('C', () => c),
    ),
);
const anyStage = fc.oneof(
  { weight: 4, arbitrary: anyFilter },
  fc.constantFrom('json', 'drop a', 'keep app', 'label_format a_b=a', 'logfmt a="x"', 'label_format a=`v`'),
);
const profiles: readonly Partial<NamesOptions>[] = [
  {},
  { metadataFieldMode: 'hybrid' },
  { metadataFieldMode: 'native' },
  { labelStyle: 'passthrough', metadataFieldMode: 'native' },
  { fieldMapping: [{ vl_field: 'a/b', loki_label: 'a' }] },
];

/** Counts the rows that the backend is asked for and those that it keeps back. */
class AskedRows {
  /** Rows that matter and that the backend is asked for. */
  pushed = 0;
  keptBack = 0;

  /** True if the backend is asked for all rows that matter. */
  take(
    rows: readonly Fields[],
    reader: RowReader,
    filter: LogsqlFilter,
    matters: (entry: PipelineEntry) => boolean,
  ): boolean {
    const isAsked = compileFilter(filter);
    const views = rowsOf(rows);
    let areAll = true;
    for (const [index, row] of rows.entries()) {
      const view = views[index];
      const asked = view !== undefined && isAsked(view);
      const counts = matters(pipelineEntry(reader.read(row)));
      if (!asked) this.keptBack += 1;
      if (counts && asked) this.pushed += 1;
      if (counts && !asked) areAll = false;
    }
    return areAll;
  }
}

test('no row that passes the stages is kept back by the backend', (t) => {
  const asked = new AskedRows();
  fc.assert(
    fc.property(
      fc.array(anyRow, { minLength: 1, maxLength: 6 }),
      fc.array(anyStage, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...profiles),
      (rows, stages, profile) => {
        const names = new Naming({ ...namesOptions(), ...profile });
        const stored = storedNames([...new Set(rows.flatMap(Object.keys))], names);
        const expr = parseQuery(`{app="x"} | ${stages.join(' | ')}`);
        if (expr.kind !== 'log') return false;
        const ofAll = { ...expr, selector: { ...expr.selector, matchers: [] } };
        const pipeline = compilePipeline(expr.stages);
        const { filter } = openLogs(ofAll, names).close(stored);
        return asked.take(rows, new RowReader(names), filter, (entry) => pipeline(entry) !== undefined);
      },
    ),
    { numRuns: deepRuns(1000, 3000) },
  );
  // The law would also hold for a backend that is asked for all rows.
  t.true(asked.pushed > 0);
  t.true(asked.keptBack > 0);
});

test('no row with a sample of an unwrapped label is kept back by the backend', (t) => {
  const asked = new AskedRows();
  fc.assert(
    fc.property(
      fc.array(anyRow, { minLength: 1, maxLength: 6 }),
      fc.array(anyStage, { minLength: 1, maxLength: 2 }),
      anyName,
      fc.constantFrom(...profiles),
      (rows, stages, name, profile) => {
        const names = new Naming({ ...namesOptions(), ...profile });
        const stored = storedNames([...new Set(rows.flatMap(Object.keys))], names);
        const expr = parseQuery(`sum_over_time({app="x"} | ${stages.join(' | ')} | unwrap ${name} [1m])`);
        if (expr.kind !== 'range-aggregation') return false;
        const { query } = expr.range;
        const ofAll = { ...query, selector: { ...query.selector, matchers: [] } };
        const extract = compileExtractor(expr, undefined);
        const { filter } = openLogs(ofAll, names, 'on', [], name).close(stored);
        return asked.take(rows, new RowReader(names), filter, (entry) => extract(entry) !== undefined);
      },
    ),
    { numRuns: deepRuns(1000, 3000) },
  );
  t.true(asked.pushed > 100);
  t.true(asked.keptBack > 100);
});

test('rows without the unwrapped label are not asked for', (t) => {
  const filterOf = (text: string): string => {
    const expr = parseQuery(text);
    if (expr.kind !== 'range-aggregation') throw new Error('not a range aggregation');
    const { query, unwrap } = expr.range;
    return printFilter(
      openLogs(query, naming, 'on', [], unwrap?.name).close(storedNames(['took'], naming)).filter,
    );
  };
  t.is(filterOf('max_over_time({app="x"} | unwrap took [1m])'), '{app="x"} took:*');
  t.is(filterOf('max_over_time({app="x"} | json | unwrap took [1m])'), '{app="x"}');
  t.is(filterOf('max_over_time({app="x"} | label_format took=size | unwrap took [1m])'), '{app="x"}');
  t.is(filterOf('count_over_time({app="x"}[1m])'), '{app="x"}');
});
