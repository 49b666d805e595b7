import test from 'ava';
import fc from 'fast-check';
import { parseQuery } from '../../../../core/logql/index.js';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { NamesOptions } from '../../../../core/base/options.gen.js';
import { identifyStream } from '../../../../core/victoria/names/stream-identity.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { planMatchers } from '../../../../core/engine/plan/logs.js';
import { matchesText } from '../../../../core/engine/plan/backend-pattern.js';
import { LabelFields } from '../../../../core/engine/plan/columns.js';
import { rowsOf } from '../../../plugins/embedded-backend/logsql/run-query.js';

const fieldNames = [
  'app',
  'job',
  'service',
  'service.name',
  'service_name',
  'k8s.pod.name',
  'k8s_pod_name',
  'k8s.pod.name.a',
  'k8s.pod.name/a',
  'event_name',
  'custom.x',
  'custom-x',
  'custom_x',
  'telemetry.sdk.name',
  '__aggregated_metric__',
];
const values = ['x', 'y', 'xy', 'unknown_service'];
const anyStream = fc.dictionary(fc.constantFrom(...fieldNames), fc.constantFrom(...values), { maxKeys: 5 });
const anyMatcher = fc
  .tuple(
    fc.constantFrom(
      'app',
      'job',
      'service_name',
      'k8s_pod_name',
      'k8s_pod_name_a',
      'event_name',
      'custom_x',
      'label',
      'missing',
    ),
    fc.oneof(
      fc.tuple(fc.constantFrom('=', '!='), fc.constantFrom('', ...values)),
      fc.tuple(
        fc.constantFrom('=~', '!~'),
        fc.constantFrom('', '.*', '.+', 'x|y', 'x.*', 'x|', 'unknown.*', '[^x].*', '(?i)X', 'x.?'),
      ),
    ),
  )
  .map(([name, [op, value]]) => `${name}${op}${JSON.stringify(value)}`);
const profiles: readonly Partial<NamesOptions>[] = [
  {},
  { labelStyle: 'passthrough', metadataFieldMode: 'native' },
  { streamFields: ['custom.x'] },
  { streamLabels: 'all' },
  { streamLabels: 'promoted' },
  { fieldMapping: [{ vl_field: 'custom.x', loki_label: 'label' }] },
];

test('matchers ask for the streams whose labels they match, and for no others', (t) => {
  let selected = 0;
  let left = 0;
  fc.assert(
    fc.property(
      fc.array(anyStream, { minLength: 1, maxLength: 6 }),
      fc.array(anyMatcher, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...profiles),
      (made, matchers, profile) => {
        const naming = new Naming({ ...namesOptions(), ...profile });
        const ast = parseQuery(`{app=~".+", ${matchers.join(', ')}}`);
        if (ast.kind !== 'log') return false;
        const asked = ast.selector.matchers.slice(1);
        const fields = new LabelFields(naming, new Set(made.flatMap(Object.keys)));
        const isAsked = compileFilter(doAll(planMatchers(asked, { naming, fields })).filter);
        for (const fields of made) {
          const text = `{${Object.entries(fields)
            .map(([name, value]) => `${JSON.stringify(name)}=${JSON.stringify(value)}`)
            .join(',')}}`;
          const { labels } = identifyStream(text, naming);
          const matches = asked.every((matcher) => matchesText(matcher, labels.get(matcher.name)));
          if (matches) selected += 1;
          else left += 1;
          const [row] = rowsOf([{ _time: '2026-11-01T00:00:00Z', _msg: 'm', _stream: text, ...fields }]);
          if (row === undefined || isAsked(row) !== matches) return false;
        }
        return true;
      },
    ),
    { numRuns: 3000 },
  );
  t.true(selected > 0);
  t.true(left > 0);
});
