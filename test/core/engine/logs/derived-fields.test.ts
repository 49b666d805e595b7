import test from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { ResponseShapeOptions } from '../../../../core/base/options.gen.js';
import {
  FakeUpstream,
  makeExchange,
  makeHost,
  makeLogRequest,
  makeTenant,
  optionsOf,
  runStage,
} from '../../../../core/testing/index.js';
import { compileDerivedFields } from '../../../../core/engine/logs/derived-fields.js';
import { engineMetrics } from '../../../../core/engine/metrics.js';
import responseShape from '../../../../plugins/response-shape/index.js';
import { askedOf } from '../plan/planned.js';

const trace = { name: 'traceID', matcherRegex: 'trace=(\\w+)', url: 'http://tempo/${__value.raw}' };

function parsedOf(line: string, fields: ResponseShapeOptions['derivedFields'], labels = LabelSet.empty) {
  const derive = compileDerivedFields(fields);
  const entry = { timestampNs: 1n, line, structuredMetadata: LabelSet.empty, parsed: LabelSet.empty };
  return derive?.([{ labels, entries: [entry] }])[0]?.entries[0]?.parsed.labels;
}

test('the first group of a match is the value, or the whole match', (t) => {
  t.deepEqual(parsedOf('a trace=12ab b', [trace]), [['traceID', '12ab']]);
  t.deepEqual(parsedOf('order 77', [{ name: 'order', matcherRegex: '\\d+' }]), [['order', '77']]);
  t.deepEqual(parsedOf('nothing', [trace]), []);
});

test('a label that is there already keeps its value', (t) => {
  t.deepEqual(parsedOf('trace=12ab', [trace], LabelSet.from([['traceID', 'own']])), []);
});

test('without fields there is nothing to do, and a broken pattern names its field', (t) => {
  t.is(compileDerivedFields([]), undefined);
  t.throws(() => compileDerivedFields([{ name: 'x', matcherRegex: '(' }]), {
    message: /^derivedFields: the matcherRegex of x is invalid: error parsing regexp/,
  });
});

/** The derived field in a log response. */
async function derivedInAnswer(
  emitStructuredMetadata: boolean,
  categorizeLabels: boolean,
): Promise<string | undefined> {
  // optionsOf returns options of the schema, and the type is generated from the schema.
  const options = optionsOf('response-shape', { derivedFields: [trace] }) as unknown as ResponseShapeOptions;
  const row = { _time: '1970-01-01T00:00:00.000000001Z', _stream: '{app="a"}', _msg: 'x trace=9f' };
  const upstream = new FakeUpstream([
    { call: 'stats', samples: [] },
    { call: 'rows', batches: [[row]] },
  ]);
  const request = { ...makeLogRequest('{app="a"}'), range: { startNs: 0n, endNs: 100n } };
  const plan = askedOf(request, new Naming(namesOptions()));
  const slots = { tenant: makeTenant('t1', { accountId: 1 }), plan, upstream };
  const caller = { categorizeLabels };
  const exchange = makeExchange<'tenant' | 'plan' | 'upstream'>({ request, slots, caller });
  const host = makeHost({ metrics: engineMetrics, names: { emitStructuredMetadata } });
  const { answer } = await runStage(responseShape, options, exchange, undefined, host);
  return answer.kind === 'streams' ? answer.streams[0]?.entries[0]?.parsed.get('traceID') : undefined;
}

test('log answers have them as parsed labels', async (t) => {
  t.is(await derivedInAnswer(true, true), '9f');
  t.is(await derivedInAnswer(false, false), '9f');
});

test('log answers have none of them where the third element of tuples stays empty', async (t) => {
  t.is(await derivedInAnswer(false, true), '');
});
