import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { withDisk } from '../../core/cache/disk-engines.js';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { makeHost, makeTenant } from '../../../core/testing/index.js';
import { Follower } from '../../../plugins/delete/follower.js';
import { deleteMetrics } from '../../../plugins/delete/metrics.js';
import { push, settled, withDoor, type Door } from './through-the-door.js';

/** A backend whose deletions finish when a test calls `finish`. */
async function slowBackend(t: ExecutionContext): Promise<DevBackend & { readonly finish: () => void }> {
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const backend = await startDevBackend({ beforeDeletion: () => held });
  t.teardown(() => backend.close());
  return { ...backend, finish };
}

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-delete-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Number of row queries that the backend got. */
function reads(backend: DevBackend): number {
  return backend.stats().calls['/select/logsql/query'] ?? 0;
}

async function running({ url }: Pick<Door, 'url'>): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^ref_proxy_deletions_running (\d+)/m.exec(text)?.[1]);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((passed) => setTimeout(passed, 5));
}

const flags = { 'server.register-instrumentation': 'true' };

test('until the backend has finished a deletion, nothing of its tenant is kept, and then everything is right', async (t) => {
  const backend = await slowBackend(t);
  await withDoor(
    async (door) => {
      await push(backend, { app: 'a' }, ['one', 'two']);
      await push(backend, { app: 'a' }, ['of 7'], { AccountID: '7' });
      const seven = { 'x-scope-orgid': '7' };
      t.is((await door.delete({ query: '{app="a"}' })).status, 204);
      for (let times = 0; times < 2; times += 1) {
        const before = reads(backend);
        t.deepEqual(await door.lines('{app="a"}'), ['one', 'two']);
        t.true(reads(backend) > before, 'the backend is asked each time');
      }
      t.deepEqual(await door.lines('{app="a"}', seven), ['of 7']);
      const before = reads(backend);
      t.deepEqual(await door.lines('{app="a"}', seven), ['of 7']);
      t.is(reads(backend), before, 'another tenant is answered from what is kept');
      t.is(await running(door), 1);
      backend.finish();
      await settled(backend);
      t.deepEqual(await door.lines('{app="a"}'), []);
      await until(async () => (await running(door)) === 0);
      t.deepEqual(await door.lines('{app="a"}'), []);
      const again = reads(backend);
      t.deepEqual(await door.lines('{app="a"}'), []);
      t.is(reads(backend), again, 'answers are kept again');
    },
    { backend, flags },
  );
});

withDisk(test)(
  'a proxy that is started while a deletion runs goes on following it, by its file',
  async (t) => {
    const backend = await slowBackend(t);
    const path = join(await folderOf(t), 'answers.db');
    const settings = { backend, flags: { ...flags, 'disk-cache-path': path, 'disk-cache-min-ttl': '0s' } };
    await push(backend, { app: 'a' }, ['one']);
    await withDoor(async (door) => {
      t.is((await door.delete({ query: '{app="a"}' }, { 'x-scope-orgid': '0' })).status, 204);
      const { running } = JSON.parse(await readFile(`${path}.deletions`, 'utf8')) as {
        readonly running: readonly unknown[];
      };
      t.like(running[0], { orgId: '0', account: { accountId: 0, projectId: 0 } });
    }, settings);
    await withDoor(async (door) => {
      t.is(await running(door), 1);
      t.deepEqual(await door.lines('{app="a"}'), ['one']);
      backend.finish();
      await settled(backend);
      t.deepEqual(await door.lines('{app="a"}'), []);
      await until(async () => (await running(door)) === 0);
    }, settings);
    await withDoor(async (door) => {
      t.is(await running(door), 0);
    }, settings);
  },
);

withDisk(test)(
  'a process that was killed before its caches were empty leaves a file by which the next one empties them',
  async (t) => {
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    const path = join(await folderOf(t), 'answers.db');
    const settings = { backend, flags: { ...flags, 'disk-cache-path': path, 'disk-cache-min-ttl': '0s' } };
    await push(backend, { app: 'a' }, ['one']);
    await withDoor(async (door) => {
      t.deepEqual(await door.lines('{app="a"}'), ['one']);
    }, settings);
    const form = new URLSearchParams({ filter: '{app="a"}' });
    t.true((await fetch(`${backend.url}/delete/run_task`, { method: 'POST', body: form })).ok);
    await settled(backend);
    const deletion = { id: 'one', begunMs: Date.now(), taskId: '1' };
    await writeFile(`${path}.deletions`, JSON.stringify({ version: 1, running: [deletion], ended: [] }));
    await withDoor(async (door) => {
      t.deepEqual(await door.lines('{app="a"}'), []);
      await until(async () => (await running(door)) === 0);
      t.deepEqual(await door.lines('{app="a"}'), []);
    }, settings);
    const { ended } = JSON.parse(await readFile(`${path}.deletions`, 'utf8')) as {
      readonly ended: readonly (readonly [string, number])[];
    };
    t.deepEqual(
      ended.map(([id]) => id),
      ['one'],
    );
  },
);

withDisk(test)(
  'a file of running deletions that cannot be read costs what was kept, and nothing else',
  async (t) => {
    const path = join(await folderOf(t), 'answers.db');
    await writeFile(`${path}.deletions`, '{');
    await withDoor(
      async (door) => {
        await push(door.backend, { app: 'a' }, ['one']);
        t.deepEqual(await door.lines('{app="a"}'), ['one']);
        t.truthy(
          await door.log.find((record) =>
            String(record.get('body')).startsWith('cannot read the file of running deletions'),
          ),
        );
      },
      { flags: { 'disk-cache-path': path } },
    );
  },
);

test('a proxy that is started finds deletions that others have asked for', async (t) => {
  const backend = await slowBackend(t);
  await push(backend, { app: 'a' }, ['one']);
  const form = new URLSearchParams({ filter: '{app="a"}' });
  t.true((await fetch(`${backend.url}/delete/run_task`, { method: 'POST', body: form })).ok);
  await withDoor(
    async (door) => {
      await until(async () => (await running(door)) === 1);
      t.deepEqual(await door.lines('{app="a"}'), ['one']);
      backend.finish();
      await settled(backend);
      t.deepEqual(await door.lines('{app="a"}'), []);
      await until(async () => (await running(door)) === 0);
    },
    { backend, flags },
  );
});

test('a deletion that was cut off may be running, and is followed', async (t) => {
  const { follower, host } = fakeFollower();
  const refusal = follower.around(makeTenant(), caller, () => Promise.reject(new Error('cut off')));
  await t.throwsAsync(refusal, { message: 'cut off' });
  t.is(await host.metric('deletions_running'), 1, 'nobody knows whether the backend has it');
  await follower.stop();
  t.deepEqual(host.purges, ['all', 'all'], 'a process that ends empties what it has kept');
});

test('no more than a thousand deletions are followed at once', async (t) => {
  const { follower } = fakeFollower();
  const send = (): Promise<{ readonly taskId: string }> => Promise.resolve({ taskId: '1' });
  for (let at = 0; at < 1_000; at += 1) await follower.around(makeTenant(), caller, send);
  await t.throwsAsync(follower.around(makeTenant(), caller, send), {
    message: '1000 deletions are still running, which is the limit; retry when some have finished',
  });
  await follower.stop();
});

const caller = { orgId: undefined, headers: new Map<string, string>() };

function fakeFollower(): {
  readonly follower: Follower;
  readonly host: ReturnType<typeof makeHost<typeof deleteMetrics>>;
} {
  const host = makeHost({ metrics: deleteMetrics });
  const none = {
    forwardAuthorization: false,
    forwardHeaders: [],
    forwardCookies: [],
    diskCachePath: '',
    patternsPersistPath: '',
    labelIndexPersistPath: '',
  };
  const times = { maxRange: 1, pollInterval: 1_000, followTime: 86_400_000, unconfirmedTime: 300_000 };
  return { follower: new Follower({ ...none, ...times }, host), host };
}
