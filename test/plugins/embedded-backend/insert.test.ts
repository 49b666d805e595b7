import { gzipSync } from 'node:zlib';

import test from 'ava';

import { pushLoki, rows, withBackend } from './harness.js';

const T = 1_791_676_800_000_000_000n;
const MISSING =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

function jsonLine(
  url: string,
  body: string | Buffer,
  query = '',
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/insert/jsonline?_stream_fields=app${query}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/stream+json', ...headers },
  });
}

test('a Loki push makes labels stream fields and keeps metadata and line', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const response = await pushLoki(url, { app: 'x', env: '' }, [[T, '{"a":1}', { trace_id: 'abc' }]]);
    t.is(response.status, 204);
    const [row] = await rows(url, '{app="x"}');
    t.like(row, {
      _msg: '{"a":1}',
      _stream: '{app="x"}',
      _time: '2026-10-11T00:00:00Z',
      app: 'x',
      trace_id: 'abc',
    });
    t.regex(row?.['_stream_id'] ?? '', /^0{16}[0-9a-f]{32}$/);
  });
});

test('a row may have another value in a field than its stream', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushLoki(url, { app: 'x' }, [
      [T, 'one', { app: 'y' }],
      [T + 1n, 'two', { app: 'x' }],
    ]);
    t.deepEqual(await rows(url, '{app="x"} | sort by (_time) | fields _stream, app'), [
      { _stream: '{app="x"}', app: 'y' },
      { _stream: '{app="x"}', app: 'x' },
    ]);
    t.is((await rows(url, 'app:y')).length, 1);
    t.like((await rows(url, 'app:y'))[0], { _stream: '{app="x"}', app: 'y' });
  });
});

test('a Loki push without disable_message_parsing takes JSON lines apart', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushLoki(
      url,
      { app: 'x' },
      [
        [T, '{"a":1,"b":{"c":"d"}}'],
        [T + 1n, '{"_msg":"inner"}'],
        [T + 2n, 'plain'],
      ],
      '',
    );
    t.deepEqual(await rows(url, '* | sort by (_time) | fields a, b.c, _msg'), [
      { a: '1', 'b.c': 'd', _msg: MISSING },
      { _msg: 'inner' },
      { _msg: 'plain' },
    ]);
  });
});

test('an empty line comes back as the default message', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    await pushLoki(url, { app: 'x' }, [[T, '']]);
    t.deepEqual(await rows(url, '* | fields _msg'), [{ _msg: MISSING }]);
  });
});

test('a snappy protobuf push stores the same as a JSON one', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const field = (number: number, bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
    const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));
    const varint = (value: number): number[] =>
      value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
    const seconds = Buffer.from([0x08, ...varint(1_791_676_800), 0x10, 0x05]);
    const metadata = field(3, Buffer.concat([text(1, 'k'), text(2, 'v')]));
    const entry = Buffer.concat([field(1, seconds), text(2, 'line line line'), metadata]);
    const message = field(1, Buffer.concat([text(1, '{app="pb", q="a\\"b"}'), field(2, entry)]));
    // One literal with a separate length byte, which the tag 60 announces.
    const packed = Buffer.concat([Buffer.from([message.length, 60 << 2, message.length - 1]), message]);
    const response = await fetch(`${url}/insert/loki/api/v1/push`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-protobuf' },
      body: packed,
    });
    t.is(response.status, 204, await response.text());
    const [row] = await rows(url, '{app="pb"}');
    t.like(row, { _msg: 'line line line', k: 'v', q: 'a"b', _time: '2026-10-11T00:00:00.000000005Z' });
  });
});

test('malformed pushes get 400 and store nothing', async (t) => {
  await withBackend(t, {}, async ({ url, stats }) => {
    for (const [type, body] of [
      ['application/json', '{'],
      ['application/json', '{"streams":[{"stream":{},"values":[["x","y"]]}]}'],
      ['application/json', '{"streams":[{"stream":{"a":1},"values":[]}]}'],
      ['application/x-protobuf', 'nonsense'],
    ] as const) {
      const response = await fetch(`${url}/insert/loki/api/v1/push`, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body,
      });
      t.is(response.status, 400, body);
    }
    t.is(stats().rowsStored, 0);
  });
});

test('JSON lines follow their field options', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const line = '{"ts":"2026-10-11T00:00:00Z","text":"hello","app":"x","drop":"me","n":{"a":[1, 2]}}\n';
    const query = '&_time_field=ts&_msg_field=message,text&ignore_fields=drop&extra_fields=zone%3Deu';
    t.is((await jsonLine(url, line, query)).status, 200);
    const [row] = await rows(url, '{app="x"}');
    t.like(row, { _msg: 'hello', _time: '2026-10-11T00:00:00Z', 'n.a': '[1,2]', zone: 'eu', app: 'x' });
    t.false('drop' in (row ?? {}));
    t.false('ts' in (row ?? {}));
  });
});

test('ignored fields of JSON lines may be prefixes', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const line = '{"_msg":"hello","app":"x","log":{"offset":1,"file":{"path":"/a"}},"logtag":"F","lo":"y"}\n';
    await jsonLine(url, line, '&ignore_fields=log.*,lo');
    t.deepEqual(await rows(url, '{app="x"} | delete _time, _stream, _stream_id'), [
      { _msg: 'hello', app: 'x', logtag: 'F' },
    ]);
  });
});

test('a body with the form content type is eaten', async (t) => {
  await withBackend(t, {}, async ({ url, stats }) => {
    const response = await jsonLine(url, '{"_msg":"x"}', '', {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    t.is(response.status, 200);
    t.is(stats().rowsStored, 0);
  });
});

test('a gzip body is unpacked, and broken lines are left out without an error', async (t) => {
  await withBackend(t, {}, async ({ url, stats }) => {
    const body = gzipSync('{"_msg":"a","_time":"1791676800"}\nnot json\n{"_msg":"b","_time":"never"}\n');
    t.is((await jsonLine(url, body, '', { 'Content-Encoding': 'gzip' })).status, 200);
    t.deepEqual(await rows(url, '* | fields _msg'), [{ _msg: 'a' }]);
    t.is(stats().rowsDropped, 2);
  });
});

test('times that no 64-bit clock can hold are left out', async (t) => {
  await withBackend(t, {}, async ({ url, stats }) => {
    await pushLoki(url, { app: 'x' }, [
      [9_999_999_999_999_999_999n, 'too late'],
      [2n ** 63n - 1n, 'last'],
    ]);
    t.deepEqual(await rows(url, '* | fields _msg'), [{ _msg: 'last' }]);
    t.is(stats().rowsDropped, 1);
  });
});

test('rows without a time are given the time of arrival', async (t) => {
  await withBackend(t, { nowNs: () => T }, async ({ url }) => {
    await jsonLine(url, '{"_msg":"a"}\n{"_msg":"b","_time":"0"}\n');
    t.deepEqual(await rows(url, '* | fields _time'), [
      { _time: '2026-10-11T00:00:00Z' },
      { _time: '2026-10-11T00:00:00Z' },
    ]);
  });
});

test('tenants are kept apart by the two headers', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const tenant = { AccountID: '11', ProjectID: '2' };
    await pushLoki(url, { app: 'x' }, [[T, 'theirs']], '?disable_message_parsing=1', tenant);
    t.deepEqual(await rows(url, '* | fields _msg'), []);
    t.deepEqual(await rows(url, '* | fields _msg', {}, tenant), [{ _msg: 'theirs' }]);
    const ids = await fetch(`${url}/select/tenant_ids`);
    t.deepEqual(await ids.json(), [{ account_id: 11, project_id: 2 }]);
  });
});

test('past the byte budget a push gets 429 and queries go on', async (t) => {
  await withBackend(t, { maxBytes: 20_000 }, async ({ url }) => {
    const values = Array.from(
      { length: 500 },
      (_, i) => [T + BigInt(i), `line ${i} ${'x'.repeat(100)}`] as const,
    );
    const response = await pushLoki(url, { app: 'x' }, values);
    t.is(response.status, 429);
    t.regex(await response.text(), /the embedded backend is full/);
    const kept = await rows(url, '* | stats count() c');
    t.true(Number(kept[0]?.['c']) > 10);
    t.is((await fetch(`${url}/health`)).status, 200);
  });
});

test('the bulk API of Elasticsearch takes documents to create, and refuses other commands', async (t) => {
  await withBackend(t, {}, async ({ url }) => {
    const bulk = (body: string): Promise<Response> =>
      fetch(`${url}/insert/elasticsearch/_bulk?_stream_fields=app&_msg_field=message`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/x-ndjson' },
      });
    const time = '2026-10-11T00:00:00Z';
    const documents = ['first', 'second'].map((message) => ({
      '@timestamp': time,
      message,
      app: 'x',
      level: 'warn',
    }));
    const answer = await bulk(
      `{"create":{}}\n${JSON.stringify(documents[0])}\n\n{"index":{"_index":"a"}}\n${JSON.stringify(documents[1])}\n`,
    );
    t.is(answer.status, 200);
    const created = { create: { status: 201 } };
    t.deepEqual(await answer.json(), { took: 0, errors: false, items: [created, created] });
    const found = await rows(url, '{app="x"}');
    t.deepEqual(found.map(({ _msg }) => _msg).sort(), ['first', 'second']);
    t.like(found[0], { _time: time, _stream: '{app="x"}', level: 'warn' });
    const refused = await bulk('{"delete":{"_id":"1"}}\n');
    t.is(refused.status, 400);
  });
});
