import test from 'ava';
import { asPlugin } from '../../../../core/kernel/pipeline/load-plugin.js';
import { defineEndpoint } from '../../../../core/plugin/index.js';

const endpoint = defineEndpoint({ name: 'site', summary: 's', create: () => ({ routes: new Map() }) });
const reasonOf = (declared: object): string => {
  const read = asPlugin({ ...endpoint, ...declared });
  return read.kind === 'broken' ? read.message : 'it is a plugin';
};
const metric = (spec: object): object => ({
  metrics: { seen_total: { type: 'counter', help: 'h', ...spec } },
});
const route = (own: object): object => ({ ownRoutes: [{ id: 'site', path: '/site/{name}', ...own }] });

const broken: readonly (readonly [title: string, declared: object, reason: RegExp])[] = [
  [
    'a metric with a dash',
    { metrics: { 'a-b': { type: 'counter', help: 'h' } } },
    /metric name "a-b" is invalid/,
  ],
  ['a metric of an unknown type', metric({ type: 'summary' }), /"seen_total" has the type "summary"/],
  ['a metric without help', metric({ help: '' }), /no help/],
  ['a metric that is a word', { metrics: { seen_total: 'counter' } }, /is not a mapping/],
  ['metrics in a list', { metrics: ['seen_total'] }, /not a mapping of names/],
  ['labels that are a word', metric({ labels: 'tenant' }), /are not a list/],
  ['a label with a dash', metric({ labels: ['a-b'] }), /cannot have a label "a-b"/],
  ['a label that histograms need', metric({ labels: ['le'] }), /cannot have a label "le"/],
  [
    'a route on a path of the house',
    route({ path: '/ready' }),
    /the path "\/ready" of route "site" belongs to/,
  ],
  ['a route with an id of the house', route({ id: 'ready' }), /route "ready" already exists/],
  ['a path without a slash', route({ path: 'site/z' }), /"site\/z" of route "site" is not a path such as/],
  ['a parameter with a colon', route({ path: '/site/:name' }), /is not a path such as/],
  ['a route of the admin listener', route({ listener: 'admin' }), /declare servesAdmin/],
  ['routes in a mapping', { ownRoutes: { site: '/site' } }, /not a list of routes/],
  ['a route without a path', { ownRoutes: [{ id: 'site' }] }, /not a list of routes/],
];

for (const [title, declared, reason] of broken)
  test(`a plugin is refused before it runs, and told why: ${title}`, (t) =>
    t.regex(reasonOf(declared), reason));

test('metrics and routes that can be used are declared', (t) => {
  t.is(reasonOf({ ...metric({ labels: ['tenant'] }), ...route({}) }), 'it is a plugin');
  t.is(reasonOf({ ...route({ listener: 'admin' }), servesAdmin: true }), 'it is a plugin');
});
