/** Reloads of a changed pipeline file in a running proxy: what serves afterwards, what is kept, and what is refused. */
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { withDisk } from '../../cache/disk-engines.js';
import { request } from 'undici';
import { watching } from '../../../../core/program/reload/watch.js';
import { freePort } from '../child.js';
import { all, TailClient } from '../../../plugins/tail/fixtures.js';
import { marking, usualStages, withReloading, type Reloading, type Stages } from './under.js';

const modules = { 'marking.mjs': marking };
const endMs = Date.now();
const query = `/loki/api/v1/query_range?query=${encodeURIComponent('{app="a"}')}&start=${endMs - 3_600_000}000000&end=${endMs}000000`;

function withMarking({ backend, folder }: Reloading, options = ''): Stages {
  return [['./marking.mjs', `{ notes: '${join(folder, 'notes')}'${options} }`], ...usualStages(backend.url)];
}

async function notesOf({ folder }: Reloading): Promise<readonly string[]> {
  const text = await readFile(join(folder, 'notes'), 'utf8');
  return text.trim().split('\n');
}

async function drained({ proxy }: Reloading): Promise<void> {
  while (proxy.state.draining > 0) await pause(10);
}

async function answers(t: ExecutionContext, under: Reloading): Promise<void> {
  const { status, text } = await under.get(query);
  t.is(status, 200);
  t.true(text.includes('"one"'), text);
}

test.serial(
  'a stage that is added takes requests from the reload on, and is stopped once it is taken out',
  async (t) => {
    await withReloading(
      async (under) => {
        await answers(t, under);
        await under.write({ stages: withMarking(under) });
        t.like(await under.reload(), { status: 200, result: 'swapped' });
        await answers(t, under);
        t.deepEqual(await notesOf(under), ['start', 'request']);
        t.like(await under.reload(), { status: 200, result: 'unchanged' });
        await under.write({});
        t.like(await under.reload(), {
          result: 'swapped',
          workers: [{ worker: 1, result: 'swapped', generation: 3 }],
        });
        await answers(t, under);
        await drained(under);
        t.deepEqual(await notesOf(under), ['start', 'request', 'stop']);
        t.is(await under.metric('reloads_total{result="swapped"}'), '2');
        t.is(await under.metric('reloads_total{result="unchanged"}'), '1');
        t.is(await under.metric('reload_draining'), '0');
      },
      { modules },
    );
  },
);

test.serial(
  'a plugin whose options stay lives on wherever it stands, and another one begins where they change',
  async (t) => {
    await withReloading(
      async (under) => {
        await under.write({ stages: withMarking(under) });
        await under.reload();
        const [first, tenancy, ...rest] = withMarking(under);
        await under.write({ stages: [tenancy, first, ...rest].filter((stage) => stage !== undefined) });
        t.is((await under.reload()).result, 'swapped');
        await answers(t, under);
        await drained(under);
        t.deepEqual(await notesOf(under), ['start', 'request']);
        await under.write({ stages: withMarking(under, ', fails: false') });
        t.is((await under.reload()).result, 'swapped');
        t.deepEqual(await notesOf(under), ['start', 'request']);
      },
      { modules },
    );
  },
);

test.serial('gauges of a plugin that is taken out are gone, and are there again with it', async (t) => {
  await withReloading(async (under) => {
    const counted = 'cache_hits_total';
    await answers(t, under);
    await answers(t, under);
    t.is(await under.metric('memory_cache_entries'), '1');
    t.is(await under.metric('compat_cache_entries'), '1');
    const hits = await under.metric(counted);
    await under.write({
      stages: usualStages(under.backend.url).filter(([use]) => use !== 'peer-cache'),
    });
    t.is((await under.reload()).result, 'swapped');
    await drained(under);
    t.is(await under.metric('memory_cache_entries'), undefined);
    t.is(await under.metric('compat_cache_entries'), '0');
    t.is(await under.metric(counted), hits);
    await under.write({});
    t.is((await under.reload()).result, 'swapped');
    await drained(under);
    t.is(await under.metric('memory_cache_entries'), '0');
  });
});

test.serial('a changed module is told with each reload, since its code is read once', async (t) => {
  await withReloading(
    async (under) => {
      await under.write({ stages: withMarking(under) });
      t.like(await under.reload(), { result: 'swapped', findings: [] });
      const file = join(under.folder, 'marking.mjs');
      await writeFile(file, marking.replace("note('request')", "note('changed')"));
      // Far enough apart for any resolution of file times.
      await utimes(file, new Date(), new Date(Date.now() + 5_000));
      const told = await under.reload();
      t.like(told, { status: 200, result: 'unchanged' });
      t.regex(told.findings[0]?.at ?? '', /pipeline\.yaml:3:10$/);
      t.regex(
        told.findings[0]?.message ?? '',
        /^the file of "\.\/marking\.mjs" has changed since it was loaded/,
      );
      const record = await under.log.find((found) => found.get('body') === 'reload changed nothing');
      t.is(record.get('severity.text'), 'WARN');
      t.regex(JSON.stringify(record.get('pipeline.findings')), /marking\.mjs.*restart/);
      await answers(t, under);
      t.deepEqual(await notesOf(under), ['start', 'request']);
    },
    { modules },
  );
});

const unfit: readonly (readonly [what: string, text: (yaml: string) => string, says: RegExp])[] = [
  ['is no YAML', (yaml) => `${yaml}  - [`, /./],
  [
    'names a plugin that is not there',
    (yaml) => yaml.replace('use: guard', 'use: gaurd'),
    /gaurd.*did you mean/,
  ],
  ['lacks a stage', (yaml) => yaml.replace('  - use: translate\n', ''), /translate/],
  [
    'changes what only a start reads',
    (yaml) => `${yaml}server: { httpMaxHeaderBytes: 70000 }\n`,
    /server\.httpMaxHeaderBytes is read only at startup/,
  ],
  [
    'names an address that cannot be opened',
    (yaml) => `${yaml}server: { metricsListen: '192.0.2.1:1' }\n`,
    /-metrics-listen: cannot listen on 192\.0\.2\.1:1/,
  ],
];
for (const [what, change, says] of unfit)
  test.serial(`a file that ${what} changes nothing and is told`, async (t) => {
    await withReloading(async (under) => {
      const { hash } = under.proxy.state;
      const text = await readFile(under.file, 'utf8');
      await writeFile(under.file, change(text));
      const report = await under.reload();
      t.like(report, { status: 422, result: 'refused', hash });
      t.regex(JSON.stringify(report.findings), says);
      const record = await under.log.find(
        (found) => found.get('body') === 'reload refused, the previous pipeline keeps serving',
      );
      t.regex(JSON.stringify([...record]), says);
      t.is(await under.metric('reload_last_successful'), '0');
      await answers(t, under);
      await writeFile(under.file, text);
      t.is((await under.reload()).result, 'unchanged');
      t.is(await under.metric('reload_last_successful'), '1');
    });
  });

test.serial(
  'a plugin that cannot be started is named with its place, and nothing of the new pipeline stays',
  async (t) => {
    await withReloading(
      async (under) => {
        await under.write({ stages: withMarking(under, ', fails: true') });
        const { result, findings } = await under.reload();
        t.is(result, 'refused');
        t.regex(findings[0]?.at ?? '', /pipeline\.yaml:3:10$/);
        t.regex(findings[0]?.message ?? '', /stage "marking" failed to start: not today/);
        await answers(t, under);
        t.deepEqual(await notesOf(under), ['start', 'stop']);
      },
      { modules },
    );
  },
);

test.serial(
  'kept answers stay while nothing changes that they depend on, and are not found under other stages',
  async (t) => {
    await withReloading(
      async (under) => {
        const kept = (): Promise<string | undefined> => under.metric('memory_cache_entries');
        const hits = (): Promise<string | undefined> => under.metric('memory_cache_hits_total');
        await answers(t, under);
        t.is(await kept(), '1');
        const guarded = withMarking(under).map(([use, options]): Stages[number] =>
          use === 'guard' ? [use, '{ maxConcurrent: 7 }'] : options === undefined ? [use] : [use, options],
        );
        await under.write({ stages: guarded });
        t.is((await under.reload()).result, 'swapped');
        await answers(t, under);
        t.is(await hits(), '1');
        await under.write({ stages: guarded, sections: 'limits: { maxLines: 99 }\n' });
        await under.reload();
        t.is(await kept(), '0');
        await answers(t, under);
        t.is(await hits(), '1');
      },
      { modules },
    );
  },
);

withDisk(test.serial)(
  'the file of a disk cache is handed over to a cache with other options, and back where that cannot be started',
  async (t) => {
    await withReloading(
      async (under) => {
        const path = join(under.folder, 'cache.db');
        const stages = (stale: string, more: Stages = []): Stages => [
          ...more,
          ...usualStages(under.backend.url).map(([use, options]): Stages[number] =>
            use === 'peer-cache'
              ? [use, `{ diskCachePath: '${path}', diskCacheMinTtl: 1s, staleIfError: ${stale} }`]
              : options === undefined
                ? [use]
                : [use, options],
          ),
        ];
        await under.write({ stages: stages('0s') });
        t.is((await under.reload()).result, 'swapped');
        await answers(t, under);
        await under.write({ stages: stages('1m') });
        t.is((await under.reload()).result, 'swapped');
        await answers(t, under);
        t.is(await under.metric('disk_cache_up'), '1');
        t.is(await under.metric('disk_cache_hits_total'), '0');
        await drained(under);
        const broken: Stages = [['./marking.mjs', '{ fails: true }']];
        await under.write({ stages: stages('2m', broken) });
        t.is((await under.reload()).result, 'refused');
        await under.get(query.replace('query_range', 'labels'));
        t.is(await under.metric('disk_cache_errors_total'), '0');
        t.is(await under.metric('disk_cache_up'), '1');
      },
      { modules },
    );
  },
);

test.serial(
  'listeners that are new are opened, others closed, and those that stay keep their connections',
  async (t) => {
    const [first, second] = [await freePort(), await freePort()];
    await withReloading(
      async (under) => {
        const sections = (port: number): string =>
          `server: { metricsListen: '127.0.0.1:${port}' }\ntelemetry: { registerInstrumentation: true }\n`;
        const { urls } = under.proxy;
        await under.write({ sections: sections(first) });
        t.is((await under.reload()).result, 'swapped');
        t.is((await under.get('/metrics', `http://127.0.0.1:${first}`)).status, 200);
        t.is((await under.get('/metrics')).status, 404);
        await under.write({ sections: sections(second) });
        t.is((await under.reload()).result, 'swapped');
        t.is((await under.get('/metrics', `http://127.0.0.1:${second}`)).status, 200);
        await t.throwsAsync(request(`http://127.0.0.1:${first}/metrics`, { reset: true }), {
          message: /ECONNREFUSED/,
        });
        t.like(under.proxy.urls, { main: urls.main, admin: urls.admin });
        await answers(t, under);
      },
      { flags: { 'server.register-instrumentation': 'true' } },
    );
  },
);

test.serial(
  'a tail goes on over reloads; where its stages no longer serve it is closed after the bound',
  async (t) => {
    await withReloading(async (under) => {
      const sections = 'server: { reloadDrainTimeout: 1s }\n';
      await under.write({ sections });
      await under.reload();
      // The first pipeline answers the reload request itself.
      await drained(under);
      const tail = await new TailClient(under.url, all).opened();
      await tail.untilLines(1);
      await under.write({
        sections,
        stages: usualStages(under.backend.url).filter(([use]) => use !== 'guard'),
      });
      t.is((await under.reload()).result, 'swapped');
      t.is(under.proxy.state.draining, 1);
      const other = await new TailClient(under.url, all).opened();
      const [code] = await tail.closed();
      t.is(code, 1001);
      t.is(other.socket.readyState, other.socket.OPEN);
      other.socket.terminate();
      await drained(under);
      await answers(t, under);
    });
  },
);

test.serial('an admin token guards the reload and the description', async (t) => {
  await withReloading(
    async (under) => {
      t.is((await request(`${under.url}/admin/reload`, { method: 'POST' })).statusCode, 401);
      t.is((await under.get('/admin/pipeline')).status, 401);
      t.is((await under.reload({ 'x-admin-token': 'secret' })).result, 'unchanged');
    },
    { flags: { 'server.admin-auth-token': 'secret' } },
  );
});

interface Described {
  readonly hash: string;
  readonly agrees: boolean;
  readonly stages: readonly { readonly id: string }[];
  readonly workers: readonly { readonly last_reload: { readonly result: string } | null }[];
}

test.serial(
  'replicas with the same options have the same hash, wherever they listen and whatever their secrets are',
  async (t) => {
    const hashes: string[] = [];
    await withReloading(async (under) => {
      const described = async (): Promise<Described> => {
        const { text } = await under.get('/admin/pipeline', under.proxy.urls.admin);
        return JSON.parse(text) as Described;
      };
      const first = await described();
      t.like(first, { agrees: true, workers: [{ last_reload: null }] });
      t.is(await under.metric(`pipeline_info{hash="${first.hash}"}`), '1');
      for (const options of [`basicAuth: 'u:p'`, `basicAuth: 'u:q'`, `timeout: 7s`]) {
        const stages = usualStages(under.backend.url).map(([use, given]): Stages[number] =>
          use === 'backend'
            ? [use, `{ url: '${under.backend.url}', ${options} }`]
            : given === undefined
              ? [use]
              : [use, given],
        );
        await under.write({ stages });
        t.is((await under.reload()).result, 'swapped');
        hashes.push((await described()).hash);
      }
      t.is(hashes[0], hashes[1]);
      t.is(new Set([first.hash, ...hashes]).size, 3);
      t.is(await under.metric(`pipeline_info{hash="${first.hash}"}`), undefined);
      t.like(await described(), { workers: [{ last_reload: { result: 'swapped' } }] });
    });
  },
);

test.serial('a file that is watched is read again once a change has lasted', async (t) => {
  await withReloading(async ({ file, proxy, backend, ...under }) => {
    const watched = watching(
      { reload: () => proxy.reload(), close: () => Promise.resolve() },
      () => [file],
      10,
    );
    const { hash } = proxy.state;
    await pause(40);
    await under.write({ stages: usualStages(backend.url).filter(([use]) => use !== 'guard') });
    while (proxy.state.hash === hash) await pause(10);
    t.is(proxy.state.generation, 2);
    await watched.close();
  });
});
