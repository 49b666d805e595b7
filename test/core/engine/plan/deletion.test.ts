import test from 'ava';
import { Query } from '../../../../core/wire/api/request.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { errorTable } from '../../../../core/base/errors/table.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { DeletePlan } from '../../../../core/engine/plan/types.js';
import { planOf } from './planned.js';

const naming = new Naming(namesOptions());
const range = { startNs: 0n, endNs: 1n };

function plan(text: string): DeletePlan {
  const made = planOf({ op: 'delete', query: new Query(text, 'reject'), range }, naming);
  if (made.kind !== 'delete') throw new Error('a request for a deletion is planned as one');
  return made;
}

/** The backend filter for the same text as a query. */
function queried(text: string): string {
  const query = new Query(text, 'reject');
  const asked = planOf(
    { op: 'query_range', query, range, stepNs: 1n, limit: 1, direction: 'backward', intervalNs: 0n },
    naming,
  );
  return asked.kind === 'logs' ? printFilter(asked.filter) : '';
}

const selectors = [
  '{app="a"}',
  '{app="a", env!="dev", zone=~"eu-.+"}',
  '{service_name="shop"}',
  '{service_name=~"shop|unknown_service", app!~"x"}',
  '{k8s_pod_name="p"}',
  '{app="a\\"b} or {x=\\"y"}',
];
for (const selector of selectors) {
  test(`a deletion by ${selector} is of the rows that the query shows`, (t) => {
    const { filter, uncertain } = plan(selector);
    t.is(printFilter(filter), queried(selector));
    t.is(uncertain, undefined);
  });
}

test('a line filter leaves rows out whose line is made here, and names them', (t) => {
  const { filter, uncertain } = plan('{app="a"} |= "secret"');
  const { prefix } = naming.missingLine;
  const missing = `!_msg:* or _msg:="${prefix}"*`;
  t.is(printFilter(filter), `${queried('{app="a"} |= "secret"')} !(${missing})`);
  t.is(uncertain === undefined ? '' : printFilter(uncertain), `{app="a"} (${missing})`);
});

test('a filter that lets rows without a line pass is uncertain about them too', (t) => {
  const { uncertain } = plan('{app="a"} != "secret"');
  t.not(uncertain, undefined);
});

const wildcards = [
  '{app=~".+"}',
  '{app=~"(?s).+"}',
  '{app=~".{1,}", env!="dev"}',
  '{service_name=~".+"}',
  '{app=~"[^q]+"}',
];
for (const selector of wildcards) {
  test(`${selector} names no streams`, (t) => {
    const error = t.throws(() => plan(selector), { instanceOf: ApiError });
    t.is(error.entry, errorTable.deleteWildcard);
  });
}

for (const selector of ['{app=~"a.+"}', '{app=~".+", env="dev"}', '{app=~"a|b"}', '{app=~"[a-c]+"}']) {
  test(`${selector} names streams`, (t) => {
    t.notThrows(() => plan(selector));
  });
}

test('a query that is too long for the backend’s filter is refused, not widened', (t) => {
  const long = `{app="a"} |= "${'x'.repeat(16_000)}"`;
  const error = t.throws(() => plan(long), { instanceOf: ApiError });
  t.is(error.entry, errorTable.deleteUntranslatable);
});
