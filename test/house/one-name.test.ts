import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { sourcesIn } from '../setup/sources.js';

/**
 * Names that two modules export for different things, each clear in its context: LogQL and LogsQL and their evaluators use the same nouns,
 * as do an endpoint and the stage in front of it, and the steps of two programs.
 */
const shared: ReadonlySet<string> = new Set([
  'checkDraft',
  'checkFiles',
  'explain',
  'optionsOf',
  'printQuery',
]);

/** The UI in the browser is a separate program. */
function isSource(file: string): boolean {
  return file.endsWith('.ts') && !file.startsWith('plugins/ui/browser/');
}

/** The functions and classes that a source exports. */
function exportsOf(file: string): readonly string[] {
  const text = readFileSync(join(packageRoot(), file), 'utf8');
  return [...text.matchAll(declaration)].map(({ groups }) => groups?.['name'] ?? '');
}

const declaration = /^export (?:abstract |async )?(?:class|function\*?) (?<name>\w+)/gm;

test('no two modules export a function or a class of the same name', (t) => {
  const homes = new Map<string, Set<string>>();
  for (const file of sourcesIn(packageRoot(), ['core', 'plugins']).filter(isSource))
    for (const name of exportsOf(file)) homes.set(name, (homes.get(name) ?? new Set()).add(file));
  const twice = [...homes].filter(([, files]) => files.size > 1);
  t.true(homes.size > 1000);
  t.deepEqual(
    twice.filter(([name]) => !shared.has(name)).map(([name, files]) => `${name}: ${[...files].join(', ')}`),
    [],
  );
  // A name that has become unique must be removed from the list.
  t.deepEqual(
    [...shared].filter((name) => !twice.some(([known]) => known === name)),
    [],
  );
});
