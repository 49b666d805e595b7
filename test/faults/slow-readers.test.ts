import test from 'ava';
import { readSlowly } from './slow-readers.js';

test.serial('answers whose connection closes while they wait to be read end no process', async (t) => {
  t.deepEqual(await readSlowly(1), []);
});
