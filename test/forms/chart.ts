import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parseAllDocuments } from 'yaml';
import { archiveOf, unpacked } from './archives.js';
import { needs, readYaml, root, run, type Check, type Lab } from './check.js';

const chart = 'deploy/helm/ref-proxy';
const required = {
  image: { repository: 'registry.example/ref-proxy' },
  backend: 'http://victoria-logs:9428',
};
/** All features of the chart at once. */
const everything = {
  ...required,
  flags: { workers: 2, 'cache-max-bytes': 2_000_000_000, 'log-level': 'debug' },
  secretFlags: [{ flag: 'server.admin-auth-token', secret: 'ref-proxy', key: 'admin' }],
  pipeline: 'version: 1\n',
  pipelineFiles: { 'more.yaml': 'version: 1\n' },
  autoscaling: { enabled: true },
  peers: { enabled: true, secret: 'ref-proxy' },
  metrics: {
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true, runbookUrl: 'https://wiki.example/ref-proxy/' },
  },
  grafana: { dashboard: { enabled: true }, datasource: { enabled: true } },
  networkPolicy: {
    enabled: true,
    egress: [{ to: [{ podSelector: { matchLabels: { app: 'victoria-logs' } } }] }],
  },
};

export const chartChecks: readonly Check[] = [
  [
    'the schema of the chart takes its values and finds mistakes in others',
    () => {
      const text = readFileSync(join(root, chart, 'values.schema.json'), 'utf8');
      const validate = new Ajv({ allowUnionTypes: true, strictTypes: false }).compile(
        JSON.parse(text) as object,
      );
      for (const values of [readYaml(join(chart, 'values.yaml')), required, everything])
        assert(validate(values), JSON.stringify(validate.errors));
      const mistakes = [
        { replicas: 3 },
        { backend: 'victoria-logs:9428' },
        { peers: { enabled: true } },
        { secretFlags: [{ flag: '-peer-auth-token', secret: 's', key: 'k' }] },
        { pipelineFiles: { 'pipeline.yaml': '' } },
        { metrics: { port: 70_000 } },
        { metrics: { prometheusRule: { runbookUrl: 'docs/runbooks' } } },
      ];
      for (const values of mistakes) assert(!validate(values), JSON.stringify(values));
    },
  ],
  [
    'the packed chart has the rules, the dashboard and the data source as files',
    (lab) => {
      const folder = unpacked(lab, '-chart.tgz');
      for (const [file, source] of [
        ['alerts.yaml', 'examples/monitoring/alerts.yaml'],
        ['dashboard.json', 'examples/monitoring/dashboard.json'],
        ['datasource.yaml', 'examples/grafana/datasource.yaml'],
      ] as const) {
        const path = join(folder, 'files', file);
        assert(statSync(path).isFile());
        assert.equal(readFileSync(path, 'utf8'), readFileSync(join(root, source), 'utf8'));
      }
    },
  ],
  [
    'every flag that a form sets is one that the program has',
    () => {
      const known = new Set(
        run(process.execPath, [join(root, 'dist/core/program/main.js'), 'serve', '-help=all']).match(
          /-[a-z][\w.-]*/g,
        ),
      );
      const templates = readdirSync(join(root, chart, 'templates')).map((file) =>
        join(chart, 'templates', file),
      );
      const set = templates.flatMap((file) => flagsIn(file));
      const { services } = readYaml('deploy/compose/compose.yaml') as Services;
      const command = services['ref-proxy'].command.filter((arg) => arg.startsWith('-'));
      const all = new Set([...set, ...command.map((arg) => arg.replace(/=.*/, ''))]);
      assert(all.size > 8);
      assert.deepEqual(
        [...all].filter((flag) => !known.has(flag)),
        [],
      );
    },
  ],
  [
    'helm finds nothing wrong with the packed chart and renders all of it',
    (lab) => {
      needs('helm');
      const all = Object.values({ required, everything }).flatMap((values) => rendered(lab, values));
      const kinds = new Set(all.map(({ kind }) => kind));
      for (const kind of [
        'Deployment',
        'Service',
        'ConfigMap',
        'HorizontalPodAutoscaler',
        'PodDisruptionBudget',
        'NetworkPolicy',
        'ServiceMonitor',
        'PrometheusRule',
        'ServiceAccount',
      ])
        assert(kinds.has(kind), kind);
    },
  ],
  [
    'what helm renders is what the values say: flags, secrets as files, runbooks where they are published',
    (lab) => {
      needs('helm');
      const all = rendered(lab, everything);
      const text = JSON.stringify(ofKind(all, 'Deployment'));
      for (const arg of [
        '-backend=http://victoria-logs:9428',
        '-cache-max-bytes=2000000000',
        '-disk-cache-max-bytes=1073741824',
        '-pipeline=/etc/ref-proxy/pipeline/pipeline.yaml',
        '-peer-auth-token-file=/etc/ref-proxy/secrets/peer-auth-token',
      ])
        assert(text.includes(JSON.stringify(arg)), arg);
      const links = runbooks(ofKind(all, 'PrometheusRule'));
      assert(links.length > 10);
      for (const link of links) assert.match(link, /^https:\/\/wiki\.example\/ref-proxy\/[\w-]+\.md$/);
      const unpublished = rendered(lab, { ...required, metrics: { prometheusRule: { enabled: true } } });
      const rules = ofKind(unpublished, 'PrometheusRule');
      assert.match(JSON.stringify(rules), /"RefProxyAbsent"/);
      assert.deepEqual(runbooks(rules), []);
    },
  ],
  [
    'kubeconform takes what helm renders',
    (lab) => {
      needs('helm', 'kubeconform');
      const file = join(lab.folder, 'rendered.json');
      writeFileSync(
        file,
        JSON.stringify({ kind: 'List', apiVersion: 'v1', items: rendered(lab, everything) }),
      );
      run('kubeconform', ['-strict', '-ignore-missing-schemas', file]);
    },
  ],
];

/** A Kubernetes object. */
interface Rendered {
  readonly kind: string;
}

/** Lints and renders the packed chart with helm. */
function rendered({ release, folder }: Lab, values: object): readonly Rendered[] {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const packed = join(release, archiveOf('-chart.tgz'));
  run('helm', ['lint', '--strict', packed, '--values', file]);
  const documents = parseAllDocuments(run('helm', ['template', 'logs', packed, '--values', file]));
  assert(Array.isArray(documents));
  return documents.map((document) => {
    // A duplicate key is one of the errors.
    assert.deepEqual([...document.errors, ...document.warnings], []);
    return document.toJS() as Rendered;
  });
}

function ofKind(all: readonly Rendered[], kind: string): Rendered {
  const found = all.find((each) => each.kind === kind);
  assert(found, kind);
  return found;
}

function runbooks(rules: Rendered): readonly string[] {
  return [...JSON.stringify(rules).matchAll(/"runbook_url":"([^"]*)"/g)].map(([, url = '']) => url);
}

interface Services {
  readonly services: { readonly 'ref-proxy': { readonly command: readonly string[] } };
}

/** The flags, such as `-backend` for `-backend=...`, in the arguments of a template. */
function flagsIn(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return text.match(/(?<=^\s*- |printf ")-[a-z][\w.-]*(?==)/gm) ?? [];
}
