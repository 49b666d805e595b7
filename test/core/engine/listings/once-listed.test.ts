import test from 'ava';
import type { CallTag } from '../../../../core/base/trace.js';
import { everything, exact, query } from '../../../../core/victoria/logsql/build.js';
import { FakeUpstream, type ExpectedCall } from '../../../../core/testing/index.js';
import type { ListingRequest, StreamsAndNames, Upstream } from '../../../../core/victoria/upstream/types.js';
import { onceListed } from '../../../../core/engine/listings/upstreams.js';

const range = { startNs: 0n, endNs: 1n };
const asked: ListingRequest = { listing: 'streams', query: query(everything), range };
const tagOf = (strategy: string): CallTag => ({ strategy, calls: 0, rows: 0, bytes: 0 });
const listing = (value: string): ExpectedCall => ({ call: 'list', values: [{ value, hits: 1 }] });

test('a listing is asked for once, also while it is on its way', async (t) => {
  const script = new FakeUpstream([listing('a')]);
  const upstream = onceListed(script);
  const both = await Promise.all([upstream.list(asked), upstream.list({ ...asked })]);
  t.is(both[0], both[1]);
  t.is(await upstream.list(asked), both[0]);
  script.done();
});

test('a listing is asked for once by all strategies together', async (t) => {
  const script = new FakeUpstream([listing('a')]);
  const tags: string[] = [];
  const taggedWith = ({ strategy }: CallTag): Upstream => {
    tags.push(strategy);
    return script;
  };
  const upstream = onceListed(Object.assign(script, { taggedWith }));
  const untagged = await upstream.list(asked);
  t.deepEqual(untagged, [{ value: 'a', hits: 1 }]);
  t.is(await upstream.taggedWith?.(tagOf('one')).list(asked), untagged);
  t.is(await upstream.taggedWith?.(tagOf('other')).list(asked), untagged);
  t.deepEqual(tags, ['one', 'other']);
  script.done();
});

test('streams and names that were listed together are not listed again one by one', async (t) => {
  const values = { streams: [{ value: '{}', hits: 2 }], names: [{ value: 'app', hits: 1 }] };
  let calls = 0;
  const listBoth = (): Promise<StreamsAndNames> => {
    calls += 1;
    return Promise.resolve(values);
  };
  const script = new FakeUpstream([listing('a')]);
  const upstream = onceListed(Object.assign(script, { listBoth }));
  const [one, other] = await Promise.all([upstream.listBoth?.(asked), upstream.listBoth?.({ ...asked })]);
  t.deepEqual([one, other, calls], [values, values, 1]);
  t.is(await upstream.list(asked), values.streams);
  t.is(await upstream.list({ ...asked, listing: 'field_names' }), values.names);
  t.is((await upstream.list({ ...asked, listing: 'stream_field_names' }))[0]?.value, 'a');
  script.done();
});

test('what differs in anything is another listing', async (t) => {
  const others: readonly ListingRequest[] = [
    asked,
    { ...asked, listing: 'field_names' },
    { ...asked, query: query(exact('app', 'a')) },
    { ...asked, range: { startNs: 0n, endNs: 2n } },
    { ...asked, range: { startNs: 1n, endNs: 1n } },
    { ...asked, field: 'app' },
  ];
  const script = new FakeUpstream(others.map((_request, index) => listing(String(index))));
  const upstream = onceListed(script);
  for (const [index, request] of others.entries())
    t.is((await upstream.list(request))[0]?.value, String(index));
  script.done();
});
