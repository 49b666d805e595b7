/**
 * Runs the scripted clients and prints the result of each feature.
 *
 *   npm run clients -- [--client NAME]... [--write]
 *
 * BACKEND_URL names a real VictoriaLogs, which gets the demo data in separate accounts; by default the embedded backend is started.
 * REFERENCE_URL names a Loki to test instead of the proxy, to verify the expectations of the suite. --write updates the list of features in
 * docs/clients.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../core/kernel/options/index.js';
import { writeTable } from './document.js';
import { features } from './features.js';
import { Stage } from './stage.js';
import { playAll, printTable } from './table.js';

const { values: options } = parseArgs({
  options: {
    client: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
  },
});

if (options.write) {
  const file = join(packageRoot(), 'docs', 'clients.md');
  writeFileSync(file, writeTable(readFileSync(file, 'utf8'), features));
  console.log(`${features.length} features written to docs/clients.md`);
} else {
  const stage = await Stage.open({
    backendUrl: process.env['BACKEND_URL'],
    referenceUrl: process.env['REFERENCE_URL'],
  });
  try {
    const wanted = features.filter(
      ({ client }) => options.client.length === 0 || options.client.includes(client),
    );
    const results = await playAll(stage, wanted);
    console.log(printTable(results));
    for (const { feature, failure } of results) {
      if (failure !== undefined) console.log(`\nFAIL ${feature.client}: ${feature.feature}\n  ${failure}`);
    }
    process.exitCode = results.some(({ failure }) => failure !== undefined) ? 1 : 0;
  } finally {
    await stage.close();
  }
}
