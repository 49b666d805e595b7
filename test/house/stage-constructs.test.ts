import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { stageDescriptors } from '../../core/logql/stages/index.js';
import { readImportGraph } from './import-graph.js';

const root = packageRoot();
const { files, edges } = readImportGraph(root);

/** Files that name a stage although it is not theirs, and why; whatever else must be known of one is in its descriptor. */
const exceptions: Readonly<Record<string, string>> = {
  'core/logql/ast.ts': 'the types of the tree',
  'core/logql/syntax/tokens.ts': "words stand in the order of Loki's lists of expected tokens",
  'core/logql/syntax/metric-rules.ts': 'label filters behind unwrap are a part of it',
  'core/engine/plan/logs.ts': 'line and label filters are translated',
  'core/engine/fields/line-fields.ts': 'detected fields tell whether json or logfmt found them',
  'core/engine/fields/field-scan.ts': 'as above',
  'plugins/reference-api/index.ts': 'adds a line filter',
  'plugins/ui/edit.ts': 'adds filters',
  'plugins/ui/hints.ts': 'suggests filters',
  'core/program/explain.ts': 'an option has the name of one',
  'plugins/ui/explain.ts': 'asks for the histogram of Explore, which drops errors',
  'plugins/ui/marks.ts': 'marks what line filters have found',
};

/** The kinds and words of all stages, as code would quote them. */
const names = [
  ...new Set(Object.entries(stageDescriptors).flatMap(([kind, { word }]) => [kind, word ?? kind])),
];
/** Kinds of the tests that filters make, too. */
const ofFilters = new Set(['regexp', 'pattern']);

/** Stages that a file names. */
function namedIn(file: string, text = readFileSync(join(root, file), 'utf8')): readonly string[] {
  const imported = edges.filter(({ from }) => from === file).map(({ to }) => to);
  const isAboutLogql = imported.some((path) => path.startsWith('core/logql/'));
  if (!(file.startsWith('core/logql/') || (isAboutLogql && /\bstages?\b|Stage\b|\bparser\b/.test(text))))
    return [];
  const readsTests = /\btest\b|\bFilterTest\b/.test(text);
  return names.filter((name) => text.includes(`'${name}'`) && !(readsTests && ofFilters.has(name)));
}

test('a stage is named in its own file and in no other', (t) => {
  const naming = files
    .filter((file) => !/^core\/(?:logql\/stages|victoria|embedded)\//.test(file))
    .filter((file) => namedIn(file).length > 0);
  t.deepEqual(naming.sort(), Object.keys(exceptions).sort());
});

test('a file that names a stage is found', (t) => {
  const text = "if (stage.kind === 'decolorize') return;";
  t.deepEqual(namedIn('core/engine/plan/logs.ts', text), ['decolorize']);
  t.deepEqual(namedIn('core/logql/walk.ts', "new Set(['json', 'line_format'])"), ['json', 'line_format']);
  t.deepEqual(namedIn('core/logql/walk.ts', "test.kind === 'pattern' || kind === 'text'"), []);
});

test('each file of a stage names no other stage', (t) => {
  const ownFiles = files.filter((file) => file.startsWith('core/logql/stages/'));
  t.true(ownFiles.length > 12);
  for (const file of ownFiles.filter((one) => one !== 'core/logql/stages/index.ts')) {
    const kinds = Object.keys(stageDescriptors).filter((kind) => namedIn(file).includes(kind));
    t.true(kinds.length <= 1, `${file}: ${kinds.join(', ')}`);
  }
});
