import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { linesOf, mutatedRooms } from '../mutants/rooms.js';

for (const { name, sources, tests } of mutatedRooms)
  test(`mutants of ${name} name declarations and tests that exist`, (t) => {
    for (const source of sources) {
      const [file = ''] = linesOf(source).split(':');
      t.true(existsSync(join(packageRoot(), file)), file);
    }
    for (const each of tests) t.true(existsSync(join(packageRoot(), `test/${each}.test.ts`)), each);
  });
