import { once } from 'node:events';
import { createServer } from 'node:http';
import test from 'ava';
import { request } from 'undici';
import type { LogRecord } from '../../../core/testing/index.js';
import { forMany, heldOpen, type Held } from '../../setup/held-open.js';
import { at, push, settled, withDoor, type Door } from './through-the-door.js';

const bodyIs =
  (body: string) =>
  (record: LogRecord): boolean =>
    record.get('body') === body;

test('a deletion is 204 without a body, and takes what the query showed and nothing else', async (t) => {
  await withDoor(async (door) => {
    const { backend } = door;
    await push(backend, { app: 'a', env: 'prod' }, ['one', 'two']);
    await push(backend, { app: 'a', env: 'dev' }, ['three']);
    await push(backend, { app: 'b' }, ['four']);
    // Cached first, and queried again after the deletion.
    t.deepEqual(await door.lines('{app="a"}'), ['one', 'three', 'two']);
    const { status, text } = await door.delete({ query: '{app="a", env=~"pr.+"}' });
    t.is(status, 204);
    t.is(text, '');
    await settled(backend);
    t.deepEqual(await door.lines('{app=~".+"}'), ['four', 'three']);
    t.deepEqual(await door.lines('{app="a"}'), ['three']);
  });
});

test('the range is that of a query: from start to right before end', async (t) => {
  await withDoor(async (door) => {
    await push(door.backend, { app: 'a' }, ['0', '1', '2', '3', '4']);
    await door.delete({ query: '{app="a"}', start: String(at(1)), end: String(at(3)) });
    await settled(door.backend);
    t.deepEqual(await door.lines('{app="a"}'), ['0', '3', '4']);
  });
});

test('service_name selects for deletion what it selects for queries', async (t) => {
  await withDoor(async (door) => {
    const { backend } = door;
    await push(backend, { app: 'shop' }, ['derived from app']);
    await push(backend, { job: 'shop' }, ['derived from job']);
    await push(backend, { app: 'other', job: 'shop' }, ['app wins over job']);
    await push(backend, { zone: 'eu' }, ['of no service']);
    for (const [query, rest] of [
      ['{service_name="shop"}', ['app wins over job', 'of no service']],
      ['{service_name="unknown_service"}', ['app wins over job']],
    ] as const) {
      const shown = await door.lines(query);
      const before = await door.lines('{service_name=~".+"}');
      t.is((await door.delete({ query })).status, 204);
      await settled(backend);
      const after = await door.lines('{service_name=~".+"}');
      t.deepEqual(after, rest);
      t.deepEqual([...after, ...shown].sort(), before);
    }
  });
});

test('line filters that the backend evaluates select for deletion', async (t) => {
  await withDoor(async (door) => {
    const { backend } = door;
    await push(backend, { app: 'a' }, ['password=1', 'Password=2', 'nothing', 'password=3 kept']);
    t.is((await door.delete({ query: '{app="a"} |= "password" != "kept"' })).status, 204);
    await settled(backend);
    t.deepEqual(await door.lines('{app="a"}'), ['Password=2', 'nothing', 'password=3 kept']);
  });
});

test('a line filter is refused while a selected row is without a stored line', async (t) => {
  await withDoor(async (door) => {
    const { backend } = door;
    await push(backend, { app: 'a' }, ['password=1']);
    const unpacked = await fetch(`${backend.url}/insert/jsonline?_stream_fields=app&_time_field=t`, {
      method: 'POST',
      body: JSON.stringify({ app: 'a', t: String(at(1)), user: 'password' }),
    });
    t.true(unpacked.ok);
    const refused = await door.delete({ query: '{app="a"} |= "password"' });
    t.is(refused.status, 400);
    t.is(
      refused.error,
      'failed to translate query: some rows of these streams have no stored line, so the backend cannot match it',
    );
    t.is((await door.lines('{app="a"}')).length, 2);
    // With that row outside its range, the same deletion is exact.
    t.is((await door.delete({ query: '{app="a"} |= "password"', end: String(at(1)) })).status, 204);
    await settled(backend);
    t.is((await door.lines('{app="a"}')).length, 1);
  });
});

/** Shared by tests whose deletions are rejected, so its data does not change. */
let refusing: Held<Door>;

test.before(async () => {
  refusing = await heldOpen((use) => withDoor(use, { flags: forMany }));
  await push(refusing.thing.backend, { app: 'x' }, ['a key b']);
});

test.after.always(() => refusing.close());

const inexact = 'a deletion supports only stream selectors and line filters that the backend evaluates';
const refusals: readonly (readonly [query: string, error: string])[] = [
  [
    '{app="x"',
    'failed to translate query: parse error at line 1, col 9: syntax error: unexpected $end, expecting } or ,',
  ],
  ['count_over_time({app="x"}[5m])', 'failed to translate query: only log selector is supported'],
  ['{app="x"} | json', `failed to translate query: ${inexact}`],
  ['{app="x"} | level="error"', `failed to translate query: ${inexact}`],
  ['{app="x"} |> "a <_> b"', `failed to translate query: ${inexact}`],
];
for (const [query, error] of refusals) {
  test(`${query} cannot be deleted by`, async (t) => {
    const door = refusing.thing;
    const refused = await door.delete({ query });
    t.is(refused.status, 400);
    t.is(refused.error, error);
    t.deepEqual(await door.lines('{app="x"}'), ['a key b']);
  });
}

for (const query of [
  '{app=~".+"}',
  '{service_name=~".+"}',
  '{app=~"(?s).+", env!="dev"}',
  '{app=~"[^\\\\x00]+"}',
]) {
  test(`a deletion by ${query} names no streams`, async (t) => {
    const refused = await refusing.thing.delete({ query });
    t.is(refused.status, 400);
    t.is(
      refused.error,
      'wildcard delete rejected — query must target specific streams (e.g., {app="nginx"})',
    );
  });
}

test('a deletion is of one tenant’s rows, by account or by label', async (t) => {
  const map = JSON.stringify({ 'team-a': { account_id: '7', project_id: '0' } });
  await withDoor(
    async (door) => {
      await push(door.backend, { app: 'x' }, ['of account 7'], { AccountID: '7' });
      await push(door.backend, { app: 'x' }, ['of account 0']);
      t.is((await door.delete({ query: '{app="x"}' }, { 'x-scope-orgid': 'team-a' })).status, 204);
      await settled(door.backend);
      t.deepEqual(await door.lines('{app="x"}', { 'x-scope-orgid': 'team-a' }), []);
      t.deepEqual(await door.lines('{app="x"}'), ['of account 0']);
      t.is((await door.delete({ query: '{app="x"}' }, { 'x-scope-orgid': 'nobody' })).status, 403);
    },
    { flags: { 'tenant-map': map } },
  );
  await withDoor(
    async (door) => {
      await push(door.backend, { app: 'x', org: 'a' }, ['of a']);
      await push(door.backend, { app: 'x', org: 'b' }, ['of b']);
      t.is((await door.delete({ query: '{app="x"}' }, { 'x-scope-orgid': 'a' })).status, 204);
      await settled(door.backend);
      t.deepEqual(await door.lines('{app="x"}', { 'x-scope-orgid': 'b' }), ['of b']);
      t.deepEqual(await door.lines('{app="x"}', { 'x-scope-orgid': 'a' }), []);
    },
    { flags: { 'tenant-label': 'org' } },
  );
});

test('under a label the default tenant deletes nothing, whatever it may read', async (t) => {
  await withDoor(
    async (door) => {
      await push(door.backend, { app: 'x', org: 'a' }, ['of a']);
      for (const id of [undefined, '0', 'fake', 'default', '*']) {
        const headers = id === undefined ? {} : { 'x-scope-orgid': id };
        const refused = await door.delete({ query: '{app="x"}' }, headers);
        t.is(refused.status, 403, id);
        t.regex(String(refused.error), /default tenant holds the logs of every tenant/);
        t.deepEqual(await door.lines('{app="x"}', headers), ['of a']);
      }
    },
    { flags: { 'tenant-label': 'org', 'tenant.allow-global': 'true' } },
  );
});

test('several tenants at once are refused', async (t) => {
  const refused = await refusing.thing.delete({ query: '{app="x"}' }, { 'x-scope-orgid': '1|2' });
  t.is(refused.status, 400);
  t.is(refused.error, 'multi-tenant X-Scope-OrgID values are only supported on query endpoints');
});

test('another method is 405 with the peer’s body', async (t) => {
  await withDoor(async ({ url }) => {
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const response = await request(`${url}/loki/api/v1/delete`, { method });
      t.is(response.statusCode, 405);
      t.is(response.headers['allow'], 'POST');
      t.like(await response.body.json(), {
        status: 'error',
        errorType: 'bad_data',
        error: 'DELETE endpoint requires POST method',
      });
    }
  });
});

test('the log says who deleted what, before and after', async (t) => {
  await withDoor(async (door) => {
    await push(door.backend, { app: 'x' }, ['a']);
    const form = { query: '{app="x"}', start: String(at(0)), end: String(at(60)) };
    await door.delete(form, { 'x-scope-orgid': '0' });
    const before = await door.log.find(bodyIs('DELETE request'));
    const after = await door.log.find(bodyIs('DELETE completed'));
    for (const record of [before, after]) {
      t.is(record.get('severity.text'), 'WARN');
      t.is(record.get('ref.tenant.id'), '0');
      t.is(record.get('ref.query'), '{app="x"}');
      t.is(
        record.get('delete.logsql'),
        '_time:[2026-11-01T00:00:00.000000000Z,2026-11-01T00:00:59.999999999Z] {app="x"}',
      );
      t.is(record.get('delete.start'), '2026-11-01T00:00:00Z');
      t.is(record.get('delete.end'), '2026-11-01T00:01:00Z');
      t.is(record.get('client.address'), '127.0.0.1');
    }
    t.is(before.get('delete.task_id'), undefined);
    t.is(after.get('upstream.status_code'), 200);
    t.is(typeof after.get('proxy.duration_ms'), 'number');
    t.regex(String(after.get('delete.task_id')), /^\d+$/);
  });
});

type Reply = readonly [status: number, body: string];

/** A proxy in front of a fake backend with given responses for the deletion paths; all other paths return 404. */
async function withBackendOf(
  replies: ReadonlyMap<string, Reply>,
  use: (
    door: Parameters<Parameters<typeof withDoor>[0]>[0],
    bodies: ReadonlyMap<string, URLSearchParams>,
  ) => Promise<void>,
): Promise<void> {
  const bodies = new Map<string, URLSearchParams>();
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      const path = incoming.url ?? '';
      bodies.set(path, new URLSearchParams(body));
      const [status, text] = replies.get(path) ?? [404, 'not found'];
      response.writeHead(status).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  try {
    const backendUrl = `http://127.0.0.1:${address.port}`;
    await withDoor((door) => use(door, bodies), { backendUrl, options: 'unconfirmedTime: 10ms' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const taskPath = '/delete/run_task';
const plainPath = '/select/logsql/delete';
const unsupported: Reply = [400, 'unsupported path requested: "/delete/run_task"'];
const disabled =
  'requests to /delete/* are disabled; pass -delete.enable command-line flag for enabling them; see https://docs.victoriametrics.com/victorialogs/#how-to-delete-logs';

test('deletion that is switched off in the backend is 400 with the backend’s text, and in the log', async (t) => {
  await withBackendOf(new Map([[taskPath, [400, disabled]]]), async (door, bodies) => {
    const refused = await door.delete({ query: '{app="x"}' });
    t.is(refused.status, 400);
    t.is(refused.error, disabled);
    t.false(bodies.has(plainPath));
    const record = await door.log.find(bodyIs('DELETE failed'));
    t.is(record.get('upstream.status_code'), 400);
    const end = await door.log.find(bodyIs('the proxy no longer follows a deletion'));
    t.is(end.get('outcome'), 'refused');
  });
});

for (const reply of [unsupported, [404, 'no such page']] as const) {
  test(`a backend that answers ${reply[0]} to tasks is asked at the path of the specification`, async (t) => {
    const replies = new Map<string, Reply>([
      [taskPath, reply],
      [plainPath, [200, '']],
    ]);
    await withBackendOf(replies, async (door, bodies) => {
      const form = { query: '{app="x"}', start: String(at(0)), end: String(at(60)) };
      t.is((await door.delete(form)).status, 204);
      const sent = bodies.get(plainPath);
      const record = await door.log.find(
        bodyIs(
          'stopped waiting for a deletion: caches stay off for its tenant until unconfirmedTime has passed, and are then flushed',
        ),
      );
      t.is(record.get('reason'), 'the backend does not report whether it has finished');
      await door.log.find(bodyIs('the proxy no longer follows a deletion'));
      t.is(sent?.get('start'), String(at(0)));
      t.is(sent?.get('end'), String(at(60)));
      t.is(sent?.get('query'), bodies.get(taskPath)?.get('filter'));
    });
  });
}

const failures: readonly (readonly [what: string, replies: ReadonlyMap<string, Reply>, error: string])[] = [
  [
    'a backend without deletion',
    new Map([[taskPath, unsupported]]),
    'this backend does not support deletion',
  ],
  ['a failure of the backend', new Map([[taskPath, [500, 'disk is full']]]), 'disk is full'],
  [
    'a cluster with a node that does not delete',
    new Map([
      [
        taskPath,
        [502, `unexpected response from "node": 400; "pass -internaldelete.enable for enabling them"`],
      ],
    ]),
    'unexpected response from "node": 400; "..."; storage nodes need -internaldelete.enable',
  ],
  [
    'a deletion in a cluster without one of its nodes',
    new Map([[taskPath, [502, 'cannot run delete task: cannot connect to storage node at "x": refused']]]),
    'the backend cannot reach one of its storage nodes, so its answer would be incomplete; check its storage nodes; ' +
      'other nodes may have started the deletion; repeat it when all nodes are reachable',
  ],
  ['an answer without a task', new Map([[taskPath, [200, '{}']]]), 'the backend returned no task id'],
];
for (const [what, replies, error] of failures) {
  test(`${what} is 502`, async (t) => {
    await withBackendOf(replies, async (door) => {
      const refused = await door.delete({ query: '{app="x"}' });
      t.is(refused.status, 502);
      t.is(refused.error, `VL delete failed: ${error}`);
    });
  });
}

test('a backend that cannot be reached is 502', async (t) => {
  await withDoor(
    async (door) => {
      const refused = await door.delete({ query: '{app="x"}' });
      t.is(refused.status, 502);
      t.regex(String(refused.error), /^VL delete failed: backend unreachable: /);
    },
    { backendUrl: 'http://127.0.0.1:1' },
  );
});
