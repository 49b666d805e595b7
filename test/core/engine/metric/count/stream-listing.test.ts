import test from 'ava';
import { streamsWithSameEntries } from '../../../../../core/engine/metric/count/stream-listing.js';
import { doAll } from '../../../../../core/base/pace/steps.js';
import { defaultNamingSettings, Naming } from '../../../../../core/victoria/names/naming.js';
import { RowReader } from '../../../../../core/victoria/names/row-reader.js';

const reader = new RowReader(new Naming(defaultNamingSettings));

function sharing(...texts: readonly string[]): readonly string[] {
  return [...doAll(streamsWithSameEntries(new Map(texts.map((text) => [text, reader.stream(text)]))))];
}

test('streams with the same labels may have the same entries unless a field that all of them have tells them apart', (t) => {
  const [one = '', other = ''] = ['node-1', 'node-2'].map(
    (node) => `{"host.name"="${node}","service.name"="x","process.pid"="0"}`,
  );
  t.deepEqual(sharing(one, other), []);
  const event = '{"host.name"="node-1","service.name"="x","process.pid"="0",event_name="bought"}';
  t.deepEqual(sharing(one, other, event), [one, event]);
  t.deepEqual(sharing('{"service.name"="x"}', '{service_name="x"}', '{app="x"}'), [
    '{"service.name"="x"}',
    '{service_name="x"}',
  ]);
});
