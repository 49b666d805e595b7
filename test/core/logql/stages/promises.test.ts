import test from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { withClientNames } from '../../../../core/engine/plan/plan.js';
import { parseQuery, printPlain, type Stage } from '../../../../core/logql/index.js';
import { compilePipeline } from '../../../../core/logql/pipeline/output.js';
import { clashSuffix } from '../../../../core/logql/pipeline/types.js';
import { descriptorOf, stageDescriptors } from '../../../../core/logql/stages/index.js';
import { isAny, type Names } from '../../../../core/logql/stages/stage.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { entryOf, extractorOf } from '../pipeline/run-query.js';

/** Each stage in forms that cover all properties of its descriptor. */
const samples: Readonly<Record<Stage['kind'], readonly string[]>> = {
  'line-filter': ['|= "a"', '!~ "red|moved"', '|> "<_>a<_>"', '|= ip("10.0.0.1")', '|= ""'],
  'label-filter': [
    '| a="1"',
    '| a=~"zz|1", b!="2"',
    '| a>1 or b="x"',
    '| a=ip("10.0.0.0/8")',
    '| a>1s',
    '| a>1KB',
  ],
  json: ['| json', '| json a="b.c", d'],
  logfmt: ['| logfmt', '| logfmt --strict', '| logfmt --keep-empty a="b", c'],
  regexp: ['| regexp "(?P<a>[a-z]+)[ =](?P<z>.*)"'],
  pattern: ['| pattern "<a> <_> <z>"'],
  'line-format': ['| line_format "{{.a}} {{.b}}"', '| line_format "{{ int \\"1\\" | repeat .a }}"'],
  decolorize: ['| decolorize'],
  unpack: ['| unpack'],
  'label-format': [
    '| label_format a=b',
    '| label_format z="{{.a}}-{{.b}}",b="{{__line__}}"',
    '| label_format z=a,y="{{ mod 1 0 }}"',
  ],
  drop: ['| drop a', '| drop a="1", b', '| drop __error__', '| drop __error__="Old"'],
  keep: ['| keep a', '| keep a=~"1|2", b'],
};

type Labels = Readonly<Record<string, string>>;

const lines = [
  ...['', 'x', ' x ', 'a b c d', '10.0.0.1 a', '\u001b[31mred\u001b[0m a', '{"a":', 'a=3 b="y z" c=4 d= e="'],
  ...['{"a":"7","b":{"c":"q"},"d":true,"esc":"\\u0041"}', '{"_entry":"moved","z":"packed"}'],
];
const labelSets: readonly Labels[] = [
  ...[{}, { a: '1' }, { b: '2' }, { a: '10.0.0.7', b: 'x' }, { a: 'zz', b: '2', other: 'o' }],
  ...[{ a: '3s', other: 'p' }, { a: '2KB', b: '' }, { a: '1', __error__: 'Old' }, { __error__: 'Older' }],
];

/** The line and the labels after a stage; undefined if it drops the line. */
function after(stage: Stage, line: string, labels: Labels): { line: string; labels: Labels } | undefined {
  const entry = { stream: LabelSet.from([['app', 'shop']]), timestampNs: 0n, line };
  const made = compilePipeline([stage])({
    ...entry,
    structuredMetadata: LabelSet.from(Object.entries(labels)),
  });
  if (made === undefined) return undefined;
  const all = [made.structuredMetadata, made.parsed].flatMap((set) => set.labels);
  return { line: made.line, labels: Object.fromEntries(all) };
}

function stageOf(text: string): Stage {
  const expr = parseQuery(`{app="shop"} ${text}`);
  const [stage] = expr.kind === 'log' ? expr.stages : [];
  if (stage === undefined) throw new Error(text);
  return stage;
}

function has(names: Names, name: string): boolean {
  return names === 'all' || names.includes(name) || names.some((one) => name === one + clashSuffix);
}

function only(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => names.includes(name)));
}

const ofErrors = ['__error__', '__error_details__'];

for (const [kind, texts] of Object.entries(samples)) {
  test(`${kind} does what its descriptor says, and no more`, (t) => {
    const seen = new Set<string>();
    const promised = new Set<string>();
    for (const text of texts) {
      const stage = stageOf(text);
      t.true(stage.kind === kind, text);
      const of = descriptorOf(stage);
      const [makes, loses, source] = [of.makes(stage), of.loses(stage), of.source(stage)];
      if (of.changesLine !== 'no') promised.add('another line');
      if (of.isFilter(stage)) promised.add('drops');
      if (isAny(makes)) promised.add('makes');
      if (isAny(loses)) promised.add('loses');
      // A stage must read the labels that it removes.
      if (loses !== 'all')
        for (const name of loses) t.true(has(of.names(stage), name), `${text} loses ${name}`);
      const errors: (string | undefined)[] = [];
      for (const line of lines) {
        for (const labels of labelSets) {
          const where = `${text} over ${line} ${JSON.stringify(labels)}`;
          const left = after(stage, line, labels);
          if (left === undefined) {
            seen.add('drops');
            t.true(of.isFilter(stage), `${where} is dropped`);
            continue;
          }
          if (left.line !== line) seen.add('another line');
          t.true(left.line === line || of.changesLine !== 'no', `${where} has another line`);
          for (const [name, value] of Object.entries(left.labels)) {
            if (labels[name] === value || ofErrors.includes(name)) continue;
            seen.add('makes');
            t.true(has(makes, name), `${where} makes ${name}`);
            const isPiece = line.includes(value) || line.includes('\\');
            const isUnderKeys = name
              .replace(clashSuffix, '')
              .split('_')
              .every((part) => line.includes(part));
            if (source === 'pieces') t.true(isPiece, `${where} makes ${value} of no piece`);
            if (source !== undefined && source.endsWith('-keys')) t.true(isPiece && isUnderKeys, where);
          }
          for (const name of Object.keys(labels)) {
            if (name in left.labels) continue;
            seen.add('loses');
            t.true(has(loses, name), `${where} loses ${name}`);
          }
          // If a stage removes all labels but some, it must name those.
          if (loses === 'all' && source === undefined)
            for (const name of Object.keys(left.labels))
              t.true(ofErrors.includes(name) || has(of.names(stage), name), `${where} spares ${name}`);
          const [before, error] = [labels['__error__'], left.labels['__error__']];
          if (before !== undefined) errors.push(error);
          if (error !== before && error !== undefined) t.is(of.errors(stage), 'made', where);
        }
      }
      const dropsErrors = errors.every((error) => error === undefined);
      t.is(of.errors(stage) === 'dropped', errors.length > 0 && dropsErrors, text);
    }
    t.deepEqual([...promised].sort(), [...seen].filter((one) => promised.has(one)).sort());
  });

  test(`${kind} looks at no labels but those of its descriptor`, (t) => {
    for (const stage of texts.map(stageOf)) {
      const of = descriptorOf(stage);
      const [names, makes, grouped] = [of.names(stage), of.makes(stage), of.groupNames(stage)];
      for (const line of lines) {
        for (const labels of labelSets) {
          const where = `${of.print(stage)} over ${line} ${JSON.stringify(labels)}`;
          const whole = after(stage, line, labels);
          if (names !== 'all' && of.source(stage) === undefined) {
            const seen = [...names, ...(makes === 'all' ? [] : makes), ...ofErrors];
            const part = after(stage, line, only(labels, seen));
            t.is(part?.line, whole?.line, where);
            t.deepEqual(only(part?.labels ?? {}, seen), only(whole?.labels ?? {}, seen), where);
          }
          if (grouped === undefined) continue;
          // Entries of a group may have other lines, and of their other labels only the presence is known.
          const kept = [...grouped, ...ofErrors];
          const others = Object.keys(labels).filter((name) => !kept.includes(name));
          const group = { ...labels, ...Object.fromEntries(others.map((name) => [name, 'any'])) };
          const ofGroup = after(stage, 'another line', group);
          t.is(ofGroup === undefined, whole === undefined, where);
          t.deepEqual(Object.keys(ofGroup?.labels ?? {}), Object.keys(whole?.labels ?? {}), where);
          const made = makes === 'all' ? [] : makes;
          t.deepEqual(only(ofGroup?.labels ?? {}, made), only(whole?.labels ?? {}, made), where);
        }
      }
    }
    t.pass();
  });
}

test('parsers of a metric query make the labels that later stages read', (t) => {
  for (const reader of [
    '| a="1"',
    '| line_format "{{.a}}" |= "1"',
    '| label_format b=a',
    '| label_format b="{{.a}}"',
  ]) {
    const read = extractorOf(`sum by (b) (count_over_time({app="shop"} | logfmt ${reader} [1m]))`);
    t.is(read(entryOf('c=0 a=1 b=1'))?.labels.get('b'), '1', reader);
    t.is(
      read(entryOf('c=0 a=2 b=1'))?.labels.get('b'),
      reader.startsWith('| label_format') ? '2' : undefined,
      reader,
    );
  }
});

test('every label that a query names can be renamed, and no text', (t) => {
  const naming = new Naming({ ...namesOptions(), logqlDottedNames: 'accept' });
  const stages = [
    ...['| json a.b="c.d",e.f="e.f"', '| logfmt a.b="c.d"', '| label_format a.b=c.d,e.f="{{.g}}"'],
    ...['| drop a.b,c.d="x.y"', '| keep a.b,c.d="x.y"', '| ( a.b="x.y" or ( c.d>1 , e.f=ip("1.2.3.4") ) )'],
    ...['|= "a.b"', '| regexp "(?P<a>b.c)"', '| pattern "<a>b.c"', '| line_format "a.b"', '| decolorize'],
  ];
  const query = `sum by (a.b)(sum_over_time({app="x"} ${stages.join(' ')} | unpack | unwrap g.h | a.b="x.y"[1m]))`;
  const renamed = query.replace(
    /("[^"]*")|([aceg])\.([bdfh])/g,
    (_, text?: string, first = '', last = '') => text ?? `${String(first)}_${String(last)}`,
  );
  t.is(printPlain(withClientNames(parseQuery(query, { dottedNames: 'accept' }), naming)), renamed);
});

test('every stage has samples', (t) => {
  t.deepEqual(Object.keys(samples).sort(), Object.keys(stageDescriptors).sort());
});
