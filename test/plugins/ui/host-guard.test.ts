import test from 'ava';
import { ApiError } from '../../../core/plugin/index.js';
import { makeCaller } from '../../../core/testing/index.js';
import { createHostGuard } from '../../../plugins/ui/host-guard.js';

function passes(host: string, allowed: readonly string[] = []): boolean {
  const headers = new Map(host === '' ? [] : [['host', host]]);
  try {
    createHostGuard(allowed)(makeCaller({ headers }));
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return false;
    throw error;
  }
}

test('addresses and localhost are let through', (t) => {
  for (const host of [
    '127.0.0.1',
    '127.0.0.1:3101',
    '10.1.2.3:80',
    'localhost:3101',
    'LOCALHOST',
    '[::1]:3101',
    'a.localhost',
    '',
  ])
    t.true(passes(host), host);
});

test('a name that a stranger may have pointed here is refused', (t) => {
  for (const host of [
    'evil.example',
    'evil.example:3101',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'notlocalhost',
  ])
    t.false(passes(host), host);
});

test('names that the operator allows are let through', (t) => {
  t.true(passes('Logs.Example:443', ['logs.example']));
  t.true(passes('logs.example.', ['LOGS.example']));
  t.false(passes('other.example', ['logs.example']));
});
