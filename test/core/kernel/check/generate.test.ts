import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { generateFiles } from '../../../../core/kernel/check/generate.js';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { describedRules } from '../../../../core/kernel/check/described-rules.js';

test('docs/checker.md is what the rules say; `npm run generate` renews it', (t) => {
  const files = generateFiles();
  t.deepEqual([...files.keys()], ['docs/checker.md']);
  for (const [path, content] of files) {
    t.is(readFileSync(join(packageRoot(), path), 'utf8'), content, `${path} is stale`);
  }
});

test('every rule has a place in the table and a paragraph of its own', (t) => {
  const text = generateFiles().get('docs/checker.md') ?? '';
  for (const { id, title, docs } of describedRules) {
    t.true(text.includes(`| [${id}](#${id.toLowerCase()}) |`), id);
    t.true(text.includes(`#### ${id}\n\n**${title}.** ${docs}\n`), id);
  }
});
