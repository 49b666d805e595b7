import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import { vectorFunctions } from '../../core/logql/functions/vector/index.js';
import { readImportGraph } from './import-graph.js';

/** A construct of LogQL is known to its own file: all others read what that file says of it. */
interface Kind {
  readonly what: string;
  readonly words: readonly string[];
  /** Where they may be named: folders end in a slash. */
  readonly places: readonly string[];
}

/** Other languages, and what people read. */
const others = ['core/victoria/', 'core/embedded/', 'core/logql/template/', 'plugins/ui/browser/'];

const kinds: readonly Kind[] = [
  {
    what: 'range function',
    words: Object.keys(rangeFunctions),
    places: ['core/logql/ast.ts', 'core/logql/functions/'],
  },
  {
    what: 'vector aggregation',
    words: Object.keys(vectorFunctions),
    places: ['core/logql/ast.ts', 'core/logql/functions/'],
  },
];

/** Words that have other meanings: outside of the language and its engine they only count where an operation is meant. */
const ambiguous = new Set(['sum', 'avg', 'count', 'max', 'min', 'rate', 'sort']);
/** Functions of LogsQL, and that lines are counted. */
const otherMeanings =
  /statsFunction\('\w+'|\b(?:measure|ofLines)\b\??(?::| ===| !==) 'count'|return 'count'|\(aggregator: '\w+'/g;

function namedIn(text: string, file: string, { words }: Kind): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').replace(otherMeanings, '');
  const isNear = /^core\/(?:logql|engine)\//.test(file);
  return words.filter((word) => {
    const literal = `(['"\`])${word}\\1`;
    const isAlone = ambiguous.has(word) && !isNear;
    return new RegExp(isAlone ? `\\bop\\b\\??(?::| ===| !==) ${literal}` : literal).test(code);
  });
}

const root = packageRoot();
const files = readImportGraph(root).files.filter(
  (file) => /^(?:core|plugins)\//.test(file) && !others.some((place) => file.startsWith(place)),
);

for (const kind of kinds) {
  test(`no file but its own names a ${kind.what}`, (t) => {
    const isPlace = (file: string): boolean =>
      kind.places.some((place) => (place.endsWith('/') ? file.startsWith(place) : file === place));
    const named = files
      .filter((file) => !isPlace(file))
      .flatMap((file) =>
        namedIn(readFileSync(join(root, file), 'utf8'), file, kind).map((word) => `${file}: ${word}`),
      );
    t.deepEqual(named, []);
  });
}

test('names are found', (t) => {
  const [ranges, vectors] = kinds as readonly [Kind, Kind];
  const engine = 'core/engine/plan/a.ts';
  t.deepEqual(namedIn("const ops = new Set(['rate', `sum_over_time`]);", engine, ranges), [
    'rate',
    'sum_over_time',
  ]);
  t.deepEqual(namedIn("switch (op) { case 'sum': }", engine, vectors), ['sum']);
  t.deepEqual(namedIn("// 'sum' is a word\nstatsFunction('sum', [])", engine, vectors), []);
  t.deepEqual(namedIn("if (op === 'max') {}\nconst x = { ofWorkers: 'min' };", 'plugins/a/b.ts', vectors), [
    'max',
  ]);
});
