import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../../../core/kernel/options/index.js';
import { generatedFiles } from '../../../../core/tools/generate/files.js';

test.serial(
  'the committed generated files are what their sources give; `npm run generate` renews them',
  async (t) => {
    const files = await generatedFiles(packageRoot());
    for (const path of ['docs/flags.md', 'docs/checker.md', 'schemas/pipeline.schema.json'])
      t.true(files.has(path), path);
    for (const [path, content] of files)
      t.is(readFileSync(join(packageRoot(), path), 'utf8'), content, `${path} is stale`);
  },
);
