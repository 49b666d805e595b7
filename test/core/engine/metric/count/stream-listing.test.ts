import test from 'ava';
import { engineMetrics } from '../../../../../core/engine/metrics.js';
import { createMemories } from '../../../../../core/engine/memories.js';
import {
  listingBytes,
  readStreams,
  streamsWithSameEntries,
} from '../../../../../core/engine/metric/count/stream-listing.js';
import { doAll } from '../../../../../core/base/pace/steps.js';
import { makeHost } from '../../../../../core/testing/index.js';
import { Naming } from '../../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../../core/testing/options.js';
import { RowReader } from '../../../../../core/victoria/names/row-reader.js';

const reader = new RowReader(new Naming(namesOptions()));

async function sharing(...texts: readonly string[]): Promise<readonly string[]> {
  return [...(await streamsWithSameEntries(new Map(texts.map((text) => [text, reader.stream(text)]))))];
}

test('streams with the same labels may have the same entries unless a field that all of them have tells them apart', async (t) => {
  const [one = '', other = ''] = ['node-1', 'node-2'].map(
    (node) => `{"host.name"="${node}","service.name"="x","process.pid"="0"}`,
  );
  t.deepEqual(await sharing(one, other), []);
  const event = '{"host.name"="node-1","service.name"="x","process.pid"="0",event_name="bought"}';
  t.deepEqual(await sharing(one, other, event), [one, event]);
  t.deepEqual(await sharing('{"service.name"="x"}', '{service_name="x"}', '{app="x"}'), [
    '{"service.name"="x"}',
    '{service_name="x"}',
  ]);
});

test('the streams of a selection are remembered for its next query, even 10,000 of them', (t) => {
  const { listings } = createMemories(makeHost({ metrics: engineMetrics }));
  const listed = Array.from({ length: 10_000 }, (_, pod) => ({
    value: `{"service.name"="checkout","k8s.namespace.name"="shop","k8s.pod.name"="checkout-7d9c6b5f4-${pod}","k8s.container.name"="app"}`,
    hits: 1,
  }));
  const streams = doAll(readStreams(listed, reader));
  const listing = { range: { startNs: 0n, endNs: 1n }, listed, streams, fields: ['level'] };
  listings.set('selection', listing, listingBytes(listing), 1_000);
  t.is(listings.get('selection')?.streams.size, 10_000);
});
