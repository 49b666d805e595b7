import test from 'ava';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import type { NamesOptions } from '../../../../core/base/options.gen.js';

function namingWith(settings: Partial<NamesOptions> = {}): Naming {
  return new Naming({ ...namesOptions(), ...settings });
}

test('dotted names are rejected exactly in the reference-compatible profile, unless told otherwise', (t) => {
  t.is(namingWith().dottedNames, 'reject');
  t.is(namingWith({ metadataFieldMode: 'hybrid' }).dottedNames, 'accept');
  t.is(namingWith({ metadataFieldMode: 'native' }).dottedNames, 'accept');
  t.is(namingWith({ labelStyle: 'passthrough' }).dottedNames, 'accept');
  t.is(namingWith({ logqlDottedNames: 'accept' }).dottedNames, 'accept');
  t.is(namingWith({ labelStyle: 'passthrough', logqlDottedNames: 'reject' }).dottedNames, 'reject');
});

test('browse parameters are ignored in the reference-compatible profile, unless the index is on', (t) => {
  t.false(namingWith().browseExtensions);
  t.true(namingWith({ labelValuesIndexedCache: true }).browseExtensions);
  t.true(namingWith({ metadataFieldMode: 'hybrid' }).browseExtensions);
  t.false(namingWith({ metadataFieldMode: 'hybrid', labelBrowseExtensions: 'off' }).browseExtensions);
  t.true(namingWith({ labelBrowseExtensions: 'on' }).browseExtensions);
});

test('every stream field is a label; in exports those that are promoted or have legal names', (t) => {
  const naming = namingWith();
  for (const isOtlp of [false, true]) {
    t.is(naming.labelOf('service.name', isOtlp), 'service_name');
    t.is(naming.labelOf('k8s.pod.name.a', isOtlp), 'k8s_pod_name_a');
    t.is(naming.labelOf('app', isOtlp), 'app');
    t.is(naming.labelOf('a__b', isOtlp), 'a__b');
    t.is(naming.labelOf('event_name', isOtlp), undefined);
    t.is(namingWith({ streamFields: ['host.name'] }).labelOf('host.name', isOtlp), 'host_name');
  }
  t.is(naming.labelOf('host.name'), 'host_name');
  t.is(naming.labelOf('team-name'), 'team_name');
  t.is(naming.labelOf('2fa'), 'key_2fa');
  t.is(naming.labelOf('host.name', true), undefined);
  t.is(namingWith({ streamLabels: 'promoted' }).labelOf('host.name'), undefined);
});

test('an export is recognised by attributes of OpenTelemetry beside which nothing has a legal name', (t) => {
  const naming = namingWith();
  t.true(naming.isOtlpStream(['host.name', 'os.type']));
  t.true(naming.isOtlpStream(['service.name', 'telemetry.sdk.name', 'event_name']));
  t.false(naming.isOtlpStream(['service.name', 'telemetry.sdk.name', 'level']));
  t.false(naming.isOtlpStream(['service.name', 'host.name']));
  t.false(naming.isOtlpStream(['kubernetes.pod_name', 'kubernetes.pod_namespace']));
  t.false(naming.isOtlpStream([]));
  t.false(namingWith({ streamLabels: 'all' }).isOtlpStream(['telemetry.sdk.name']));
  t.true(namingWith({ streamLabels: 'promoted' }).isOtlpStream(['app']));
});

test('a label finds its stored spellings', (t) => {
  t.deepEqual(namingWith().fieldsOf('service_name'), ['service_name', 'service.name']);
  t.deepEqual(namingWith().fieldsOf('app'), ['app']);
  t.deepEqual(namingWith().fieldsOf('service.name'), []);
  t.deepEqual(namingWith({ metadataFieldMode: 'hybrid' }).fieldsOf('host.name'), ['host.name']);
  t.deepEqual(namingWith({ labelStyle: 'passthrough' }).fieldsOf('service.name'), ['service.name']);
  t.deepEqual(namingWith({ translateOtelAttributes: false }).fieldsOf('service_name'), ['service_name']);
});

test('a field mapping renames in both directions', (t) => {
  const naming = namingWith({ fieldMapping: [{ vl_field: 'kubernetes.pod', loki_label: 'pod' }] });
  t.is(naming.labelOf('kubernetes.pod'), 'pod');
  t.deepEqual(naming.fieldsOf('pod'), ['kubernetes.pod', 'pod']);
  t.deepEqual(naming.metadataNames('kubernetes.pod', false), ['pod']);
});

test('metadata names follow the mode', (t) => {
  t.deepEqual(namingWith().metadataNames('http.route', false), ['http_route']);
  t.deepEqual(namingWith({ metadataFieldMode: 'native' }).metadataNames('http.route', false), ['http.route']);
  t.deepEqual(namingWith({ metadataFieldMode: 'hybrid' }).metadataNames('http.route', false), [
    'http.route',
    'http_route',
  ]);
  t.deepEqual(namingWith({ metadataFieldMode: 'hybrid' }).metadataNames('plain', false), ['plain']);
  t.deepEqual(namingWith({ labelStyle: 'passthrough' }).metadataNames('http.route', false), ['http.route']);
});

test('a missing line is empty, the default text or what the backend was configured to', (t) => {
  const naming = namingWith({ backendDefaultMsgValue: 'none' });
  t.true(naming.isMissingLine(''));
  t.true(naming.isMissingLine('none'));
  t.true(
    naming.isMissingLine(
      'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field',
    ),
  );
  t.false(naming.isMissingLine('missing _msg field'));
  t.false(namingWith().isMissingLine('none'));
});

const declared: readonly [Partial<NamesOptions>, Readonly<Record<string, readonly string[]>>][] = [
  [{ extraLabelFields: ['k8s_pod_name'] }, { k8s_pod_name: ['k8s_pod_name', 'k8s.pod.name'] }],
  [{ extraLabelFields: ['tier', 'tier'] }, { tier: ['tier'] }],
  [{ extraLabelFields: ['http.method'] }, { http_method: ['http_method', 'http.method'] }],
  [{ extraLabelFields: ['http_method', 'http.method'] }, { http_method: ['http_method', 'http.method'] }],
  [{ extraLabelFields: ['http_method'], labelStyle: 'passthrough' }, { http_method: ['http_method'] }],
  [{ extraLabelFields: ['http.method'], labelStyle: 'passthrough' }, { 'http.method': ['http.method'] }],
  [
    { extraLabelFields: ['http_status_code'] },
    { http_status_code: ['http_status_code', 'http_status.code', 'http.status_code', 'http.status.code'] },
  ],
  [{ extraLabelFields: ['a_b_c_d_e'] }, { a_b_c_d_e: ['a_b_c_d_e'] }],
  [
    { extraLabelFields: ['crew'], fieldMapping: [{ vl_field: 'team.owner', loki_label: 'crew' }] },
    { crew: ['team.owner'] },
  ],
  [
    {
      extraLabelFields: ['team.owner'],
      fieldMapping: [{ vl_field: 'team.owner', loki_label: 'crew' }],
      labelStyle: 'passthrough',
    },
    { crew: ['team.owner'] },
  ],
];
for (const [settings, expected] of declared) {
  test(`extra label fields are labels of rows: ${JSON.stringify(settings)}`, (t) => {
    const naming = namingWith(settings);
    t.deepEqual([...naming.extraLabels], Object.keys(expected));
    for (const [label, fields] of Object.entries(expected))
      t.deepEqual(new Set(naming.columnsOf(label)), new Set([...fields, ...naming.fieldsOf(label)]));
    for (const [label, fields] of Object.entries(expected))
      for (const field of fields)
        if (field.includes('.') && naming.dottedNames === 'accept') t.is(naming.selectorName(field), label);
  });
}

test('a declared label whose fields are all of streams is found by their index', (t) => {
  const naming = namingWith({
    fieldMapping: [{ vl_field: 'team.owner', loki_label: 'crew' }],
    streamFields: ['team.owner', 'tier'],
    extraLabelFields: ['tier'],
  });
  t.deepEqual(naming.columnsOf('crew'), []);
  t.deepEqual(naming.columnsOf('tier'), []);
  t.deepEqual(naming.fieldsOf('crew'), ['team.owner', 'crew']);
});
