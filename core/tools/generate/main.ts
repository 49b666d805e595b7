/** `npm run generate`: writes every generated file of the repository. With `--check` it writes nothing and exits with 1 if a file is stale. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../kernel/options/index.js';
import { writeInFolder } from '../give-report.js';
import { generatedFiles } from './files.js';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
void writeGenerated(packageRoot(), values.check);

async function writeGenerated(root: string, isCheck: boolean): Promise<void> {
  for (const [path, text] of await generatedFiles(root)) {
    const file = join(root, path);
    if ((await readText(file)) === text) continue;
    if (isCheck) {
      console.error(`${path} is stale; run npm run generate`);
      process.exitCode = 1;
    } else {
      await writeInFolder(file, text);
      console.log(`wrote ${path}`);
    }
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // A missing file is stale.
    return undefined;
  }
}
