import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { generatedFiles } from '../../core/tools/generate/files.js';
import { packageRoot } from '../../core/kernel/options/index.js';
import { copyPackage } from './package-copy.js';
import { npmRun } from './npm-run.js';

test('what came of a source that is no more goes with the next build, however it is built', async (t) => {
  const folder = sourcesFor(t, ['tsconfig.json', 'test/setup']);
  const write = async (path: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), 'export default 1;\n');
  };
  const remove = (path: string): Promise<void> => rm(join(folder, path), { recursive: true });
  const isBuilt = (path: string): boolean => existsSync(join(folder, 'dist', path));
  const otherwise = ['test/rooms/1.test.js', 'plugins/ui/page/main.js'];
  for (const path of otherwise) await write(`dist/${path}`);
  for (const name of ['first', 'second', 'third']) await write(`plugins/${name}/index.ts`);
  await write('test/a.test.ts');
  await npmRun(folder, 'transpile');
  for (const path of ['plugins/first/index.js', 'test/a.test.js']) t.true(isBuilt(path), path);

  await remove('plugins/first');
  await npmRun(folder, 'transpile');
  t.false(isBuilt('plugins/first'));

  await remove('plugins/second');
  await remove('test/a.test.ts');
  await npmRun(folder, 'build');
  for (const path of ['plugins/second', 'test/a.test.js', 'test/a.test.js.map']) t.false(isBuilt(path), path);
  for (const path of ['plugins/third/index.js', 'plugins/third/index.d.ts', '.tsbuildinfo', ...otherwise])
    t.true(isBuilt(path), path);
});

test('npm run generate makes every generated file where there is none', async (t) => {
  const wanted = await generatedFiles(packageRoot());
  t.true(wanted.size >= 7);
  const folder = sourcesFor(t, [
    'tsconfig.json',
    'core',
    'plugins',
    'schemas',
    'docs',
    'examples/monitoring',
    'test/setup',
  ]);
  for (const path of wanted.keys()) {
    const isPart = path === 'docs/checker.md';
    if (isPart) await emptyRules(join(folder, path));
    else await rm(join(folder, path));
  }
  await npmRun(folder, 'generate');
  for (const [path, text] of wanted) t.is(await readFile(join(folder, path), 'utf8'), text, path);
});

/** A package with copied sources that is built without the UI, removed after the test. */
function sourcesFor(t: ExecutionContext, copied: readonly string[]): string {
  const folder = copyPackage({
    copied,
    linked: ['node_modules'],
    scripts: { page: 'true', examples: 'true' },
  });
  t.teardown(() => rm(folder, { recursive: true }));
  return folder;
}

/** Empties the generated part of the page. */
async function emptyRules(page: string): Promise<void> {
  const text = await readFile(page, 'utf8');
  const rules = /(?<=<!-- rules: .*\n)[^]*(?=<!-- end of rules -->)/;
  await writeFile(page, text.replace(rules, ''));
}
