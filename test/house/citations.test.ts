import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { Citations, filesIn } from './citations.js';

const root = packageRoot();
const citations = new Citations(root);
const documents = ['README.md', ...filesIn(root, ['docs', 'plugins', 'core', 'test', 'examples'], ['.md'])];

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

test('what a comment cites is in the repository, with the heading that it names', (t) => {
  const sources = filesIn(root, ['core', 'plugins', 'test', 'examples'], ['.ts', '.tsx', '.js']);
  t.true(sources.length > 900);
  t.deepEqual(
    sources
      // This file cites missing documents on purpose.
      .filter((file) => file !== 'test/house/citations.test.ts')
      .flatMap((file) => citations.ofComments(file, read(file))),
    [],
  );
});

test('links and paths of documents lead to files and headings that exist', (t) => {
  t.true(documents.length > 30);
  t.deepEqual(
    documents.flatMap((file) => citations.ofDocument(file, read(file))),
    [],
  );
});

test('no document was left in the middle of a merge', (t) => {
  t.deepEqual(
    documents.filter((file) => /^(?:<{7}|>{7}) /m.test(read(file))),
    [],
  );
});

test('citations that lead nowhere are found', (t) => {
  const wrong = (text: string): readonly string[] => citations.ofComments('core/base/caller.ts', text);
  t.deepEqual(wrong('/** As told (docs/protocol/answers.md#patterns). */'), []);
  t.deepEqual(wrong('// docs/protocol/answers.md#nothing'), [
    'core/base/caller.ts: docs/protocol/answers.md#nothing leads nowhere',
  ]);
  t.deepEqual(wrong('/*\n * See backend.md.\n */'), ['core/base/caller.ts: backend.md leads nowhere']);
  t.deepEqual(wrong('/** As it says (spec: Tail). */'), [
    'core/base/caller.ts: "spec" names what is not in the repository',
  ]);
  t.deepEqual(wrong("const name = 'backend.md';"), []);
});

test('links and paths that lead nowhere are found', (t) => {
  const wrong = (text: string): readonly string[] => citations.ofDocument('docs/pipeline.md', text);
  t.deepEqual(wrong('[a](map.md), [b](../README.md), [c](https://example.org/d.md), [e](../core)'), []);
  t.deepEqual(wrong('[a](maps.md) and [b](protocol/answers.md#nothing)'), [
    'docs/pipeline.md: maps.md leads nowhere',
    'docs/pipeline.md: protocol/answers.md#nothing leads nowhere',
  ]);
  t.deepEqual(wrong('`core/base/caller.ts`, `core/base`, `test/house/citations` and `npm run build`'), []);
  t.deepEqual(wrong('`core/base/callers.ts`, `core/bass` and `nowhere.ts`'), [
    'docs/pipeline.md: core/base/callers.ts leads nowhere',
    'docs/pipeline.md: core/bass leads nowhere',
    'docs/pipeline.md: nowhere.ts leads nowhere',
  ]);
  t.deepEqual(wrong('```ts\nimport a from `core/bass`;\n```\n'), []);
});
