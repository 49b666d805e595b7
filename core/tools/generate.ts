import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packageRoot, readBuiltInSchemas, type CommandFlag } from '../kernel/options/index.js';
import { generateErrorsDoc } from './errors-doc.js';
import { editorSchema } from './generate/editor-schema.js';
import { generateFlagsDoc } from './generate/flags-doc.js';
import { generateTypes } from './generate/option-types.js';
import { generateRulesDoc } from './generate/rules-doc.js';
import { allMetrics, generateMetricsDoc } from './metrics-doc.js';
import { generateAlerts } from './monitoring/alerts.js';
import { generateDashboard } from './monitoring/dashboard.js';
import { generatePushdownDoc } from './pushdown-doc.js';
import { generateStrategiesDoc } from './strategies-doc.js';
import type { Io } from '../program/io.js';
import { generateTestSchema } from './pipeline-test/file-schema.js';
import { plainHelp, readPlainArgs } from '../program/own-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'check', kind: 'boolean', description: 'write nothing; exit with 1 if a file is stale' },
];

/** Writes every generated file of the repository, or lists the stale ones. */
export async function generate(args: readonly string[], io: Io): Promise<number> {
  const { values, wantsHelp } = readPlainArgs(args, flags);
  if (wantsHelp) {
    io.out(plainHelp('generate [flags]', flags));
    return 0;
  }
  const root = packageRoot();
  const isCheck = values.get('check') === 'true';
  let stale = 0;
  for (const [path, text] of await generatedFiles(root)) {
    if ((await readText(join(root, path))) === text) continue;
    stale += 1;
    if (isCheck) io.err(`${path} is stale; run npm run generate\n`);
    else await writeText(join(root, path), text, () => io.out(`wrote ${path}\n`));
  }
  return isCheck && stale > 0 ? 1 : 0;
}

/** Every generated file by its path from the package's root. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const metrics = await allMetrics();
  const schemas = readBuiltInSchemas(root);
  return new Map([
    ['core/base/options.gen.ts', await generateTypes(schemas)],
    ['docs/flags.md', generateFlagsDoc(schemas)],
    ['schemas/pipeline.schema.json', `${JSON.stringify(editorSchema(schemas), undefined, 2)}\n`],
    ['docs/checker.md', await generateRulesDoc(root)],
    ['schemas/pipeline-test.schema.json', generateTestSchema()],
    ['docs/errors.md', generateErrorsDoc()],
    ['docs/metrics.md', await generateMetricsDoc()],
    ['examples/monitoring/dashboard.json', generateDashboard(metrics)],
    ['examples/monitoring/alerts.yaml', generateAlerts(metrics)],
    ['docs/pushdown.md', generatePushdownDoc()],
    ['docs/strategies.md', generateStrategiesDoc()],
  ]);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // A missing file is stale.
    return undefined;
  }
}

async function writeText(path: string, text: string, onWritten: () => void): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  onWritten();
}
