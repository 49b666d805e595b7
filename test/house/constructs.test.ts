import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import { vectorFunctions } from '../../core/logql/functions/vector/index.js';
import { stageDescriptors } from '../../core/logql/stages/index.js';
import { readImportGraph } from './import-graph.js';

/** Only the file that defines a LogQL construct may name it; all others read its descriptor. */
interface Kind {
  readonly what: string;
  readonly words: readonly string[];
  /** Files, and folders that end in a slash, that may name the words, with the reason. */
  readonly places: Readonly<Record<string, string>>;
  /** Finds the words in code where they have that meaning. */
  readonly named: (words: readonly string[], file: string, code: string) => readonly string[];
}

const ofFunctions = {
  'core/logql/ast.ts': 'the types of the tree',
  'core/logql/functions/': 'their own files',
  'core/comparison/known-differences.ts': 'recognises queries whose answers differ from those of Loki',
};
const kinds: readonly [Kind, Kind, Kind] = [
  {
    what: 'range function',
    words: Object.keys(rangeFunctions),
    places: ofFunctions,
    named: functionsIn,
  },
  {
    what: 'vector aggregation',
    words: Object.keys(vectorFunctions),
    places: ofFunctions,
    named: functionsIn,
  },
  {
    what: 'stage',
    words: [...new Set(Object.entries(stageDescriptors).flatMap(([kind, { word }]) => [kind, word ?? kind]))],
    places: {
      'core/logql/stages/': 'their own files',
      'core/logql/ast.ts': 'the types of the tree',
      'core/logql/syntax/tokens.ts': "words stand in the order of Loki's lists of expected tokens",
      'core/logql/syntax/metric-rules.ts': 'label filters behind unwrap are a part of it',
      'core/engine/advice/': 'finds stages that cost more than they need',
      'core/engine/plan/logs.ts': 'line and label filters are translated',
      'core/engine/plan/missing-lines.ts': 'line filters on rebuilt lines are translated',
      'core/engine/fields/field-scan.ts': 'detected fields tell whether json or logfmt found them',
      'plugins/reference-api/index.ts': 'adds a line filter',
      'plugins/ui/edit.ts': 'adds filters',
      'core/tools/explain.ts': 'an option has the name of one',
      'core/tools/rules/read-filter.ts': 'line and label filters are translated for rules',
      'plugins/ui/marks.ts': 'marks what line filters have found',
      'plugins/ui/narrowing.ts': 'tells which stages leave lines out',
      'plugins/ui/remedies.ts': 'renames the labels of filters, and filters out errors',
      'plugins/ui/line-counts.ts': 'drops errors before it counts, as Explore does',
      'plugins/ui/top-values.ts': 'keeps lines with a field',
    },
    named: stagesIn,
  },
];

/** Words with other meanings: outside core/logql and core/engine they count only as names of operations. */
const ambiguous = new Set(['sum', 'avg', 'count', 'max', 'min', 'rate', 'sort']);
/** LogsQL functions, and the count of lines. */
const otherMeanings =
  /statsFunction\('\w+'|\b(?:measure|ofLines)\b\??(?::| ===| !==) 'count'|return 'count'|\(aggregator: '\w+'/g;

function functionsIn(words: readonly string[], file: string, code: string): readonly string[] {
  const isNear = /^core\/(?:logql|engine)\//.test(file);
  return words.filter((word) => {
    const literal = `(['"\`])${word}\\1`;
    const isAlone = ambiguous.has(word) && !isNear;
    const named = new RegExp(isAlone ? `\\bop\\b\\??(?::| ===| !==) ${literal}` : literal);
    return named.test(code.replace(otherMeanings, ''));
  });
}

/** Names of tests that filters have, too. */
const ofFilters = new Set(['regexp', 'pattern']);

function stagesIn(words: readonly string[], file: string, code: string): readonly string[] {
  const isAboutLogql = edges.some(({ from, to }) => from === file && to.startsWith('core/logql/'));
  const isAboutStages = isAboutLogql && /\bstages?\b|Stage\b|\bparser\b/.test(code);
  if (!file.startsWith('core/logql/') && !isAboutStages) return [];
  const readsTests = /\btest\b|\bFilterTest\b/.test(code);
  return words.filter((word) => code.includes(`'${word}'`) && !(readsTests && ofFilters.has(word)));
}

const root = packageRoot();
const { edges, ...graph } = readImportGraph(root);
const otherLanguages = ['core/victoria/', 'plugins/embedded-backend/', 'core/logql/template/'];
const files = graph.files.filter((file) => !otherLanguages.some((place) => file.startsWith(place)));

function namedIn({ words, named }: Kind, file: string, text = readFileSync(join(root, file), 'utf8')) {
  return named(words, file, text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));
}

for (const kind of kinds) {
  test(`a ${kind.what} is named in its places and in no others`, (t) => {
    const naming = files.filter((file) => namedIn(kind, file).length > 0);
    const placeOf = (file: string): string =>
      Object.keys(kind.places).find((place) => place.endsWith('/') && file.startsWith(place)) ?? file;
    t.deepEqual([...new Set(naming.map(placeOf))].sort(), Object.keys(kind.places).sort());
  });
}

test('names are found', (t) => {
  const [ranges, vectors, stages] = kinds;
  const [logs, walk] = ['core/engine/plan/logs.ts', 'core/logql/walk.ts'];
  const cases = [
    [ranges, logs, "const ops = new Set(['rate', `sum_over_time`]);", ['rate', 'sum_over_time']],
    [vectors, logs, "switch (op) { case 'sum': }", ['sum']],
    [vectors, logs, "// 'sum' is a word\nstatsFunction('sum', [])", []],
    [vectors, 'plugins/a/b.ts', "if (op === 'max') {}\nconst x = { ofWorkers: 'min' };", ['max']],
    [stages, logs, "if (stage.kind === 'decolorize') return;", ['decolorize']],
    [stages, walk, "new Set(['json', 'line_format'])", ['json', 'line_format']],
    [stages, walk, "test.kind === 'pattern' || kind === 'text'", []],
  ] as const;
  for (const [kind, file, text, names] of cases) t.deepEqual(namedIn(kind, file, text), names, text);
});

test('each file of a stage names no other stage', (t) => {
  const stages = { ...kinds[2], words: Object.keys(stageDescriptors) };
  const ownFiles = files.filter((file) => file.startsWith('core/logql/stages/'));
  t.true(ownFiles.length > 12);
  for (const file of ownFiles.filter((one) => one !== 'core/logql/stages/index.ts'))
    t.true(namedIn(stages, file).length <= 1, file);
});
