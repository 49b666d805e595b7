import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { explained } from '../mutants/explained.js';
import { linesOf, mutatedRooms } from '../mutants/rooms.js';

for (const { name, sources, tests } of mutatedRooms)
  test(`mutants of ${name} name declarations and tests that exist`, (t) => {
    for (const source of sources) {
      const [file = ''] = linesOf(source).split(':');
      t.true(existsSync(join(packageRoot(), file)), file);
    }
    for (const each of tests) t.true(existsSync(join(packageRoot(), `test/${each}.test.ts`)), each);
  });

test('each mutant that may survive is in a line of the code, and its reason in one place', (t) => {
  const codeOf = (file: string): readonly string[] =>
    readFileSync(join(packageRoot(), file), 'utf8')
      .split('\n')
      .map((line) => line.trim());
  for (const { file, line, broken } of explained)
    t.true(codeOf(file).includes(line) && line.includes(broken), `${file}: ${line}`);
  const keys = explained.map(({ file, line, broken, replacement }) =>
    [file, line, broken, replacement].join(),
  );
  t.is(new Set(keys).size, keys.length);
});
