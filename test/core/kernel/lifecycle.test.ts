import test from 'ava';
import { PluginFailure, purgeLives, Units, type Unit } from '../../../core/kernel/lifecycle.js';
import { Life } from '../../../core/kernel/plugin/life.js';
import type { Lifecycle } from '../../../core/plugin/index.js';
import { makeHost } from '../../../core/testing/index.js';

function unit(id: string, lifecycle: Lifecycle): Unit {
  return { id, kind: 'stage', at: 'site.yaml:3:5', life: new Life(id, lifecycle) };
}

/** A plugin that records calls of its lifecycle methods. */
function noting(id: string, notes: string[], change: Lifecycle = {}): Unit {
  const note = (what: string) => (): Promise<void> => {
    notes.push(`${what} ${id}`);
    return Promise.resolve();
  };
  return unit(id, { start: note('start'), stop: note('stop'), reload: note('reload'), ...change });
}

test('plugins start in order and stop in the reverse order', async (t) => {
  const notes: string[] = [];
  const units = new Units([noting('backend', notes), noting('guard', notes)], makeHost().log);
  await units.start(1000);
  await units.stop();
  t.deepEqual(notes, ['start backend', 'start guard', 'stop guard', 'stop backend']);
});

test('a failed start names plugin, place and phase and stops what had started', async (t) => {
  const notes: string[] = [];
  const broken = noting('cache', notes, { start: () => Promise.reject(new Error('disk is full')) });
  const units = new Units([noting('backend', notes), broken, noting('guard', notes)], makeHost().log);
  const error = await t.throwsAsync(units.start(1000), { instanceOf: PluginFailure });
  t.is(error.message, 'site.yaml:3:5: stage "cache" failed to start: disk is full');
  t.deepEqual(notes, ['start backend', 'stop cache', 'stop backend']);
});

test('a start that hangs is ended by its bound, told so by its signal, and named', async (t) => {
  let told = false;
  const hanging = unit('peers', {
    start: (signal) => {
      signal.addEventListener('abort', () => (told = true));
      return new Promise(() => undefined);
    },
  });
  const error = await t.throwsAsync(new Units([hanging], makeHost().log).start(5));
  t.is(error.message, 'site.yaml:3:5: stage "peers" failed to start: timeout after 5 ms');
  t.true(told);
});

test('a stop or reload that fails is logged and the others go on', async (t) => {
  const notes: string[] = [];
  const host = makeHost();
  const fail = (): Promise<void> => Promise.reject(new Error('no'));
  const units = new Units([noting('a', notes), noting('b', notes, { stop: fail, reload: fail })], host.log);
  await units.start(1000);
  await units.reload();
  await units.stop();
  t.deepEqual(notes, ['start a', 'start b', 'reload a', 'stop a']);
  t.deepEqual(
    host.records.map((record) => [record.level, record.body, record.fields['plugin.id']]),
    [
      ['error', 'plugin failed to reload', 'b'],
      ['error', 'plugin failed to stop', 'b'],
    ],
  );
});

test('readiness lists the reasons in pipeline order, also of a plugin that cannot tell', async (t) => {
  const units = new Units(
    [
      unit('backend', { ready: () => 'backend not ready' }),
      unit('fine', { ready: () => undefined }),
      unit('patterns', { ready: () => Promise.reject(new Error('no')) }),
    ],
    makeHost().log,
  );
  t.deepEqual(await units.readiness(), ['patterns not ready', 'backend not ready']);
});

test('a purge reaches every plugin with its scope', async (t) => {
  const purged: string[] = [];
  const note = (id: string): Unit => unit(id, { purge: (scope) => void purged.push(`${id} ${scope}`) });
  const lives = [note('a'), note('b')].map(({ life }) => life);
  await purgeLives(lives, makeHost().log, 'answers');
  t.deepEqual(purged, ['a answers', 'b answers']);
});
