import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { unpacked } from './archives.js';
import { needs, readYaml, root, run, type Check } from './check.js';

const chart = 'deploy/helm/ref-proxy';
const required = {
  image: { repository: 'registry.example/ref-proxy' },
  backend: 'http://victoria-logs:9428',
};
/** Everything that the chart can do at once. */
const everything = {
  ...required,
  flags: { workers: 2, 'cache-max-bytes': 2_000_000_000, 'log-level': 'debug' },
  secretFlags: [{ flag: 'server.admin-auth-token', secret: 'ref-proxy', key: 'admin' }],
  pipeline: 'version: 1\n',
  pipelineFiles: { 'more.yaml': 'version: 1\n' },
  autoscaling: { enabled: true },
  peers: { enabled: true, secret: 'ref-proxy' },
  metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
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
    'helm finds nothing wrong with the chart and renders all of it',
    (lab) => {
      needs('helm');
      const folder = join(root, chart);
      const rendered: string[] = [];
      for (const [name, values] of Object.entries({ required, everything })) {
        const file = join(lab.folder, `${name}.json`);
        writeFileSync(file, JSON.stringify(values));
        run('helm', ['lint', '--strict', folder, '--values', file]);
        rendered.push(run('helm', ['template', 'logs', folder, '--values', file]));
      }
      const kinds = new Set(rendered.join('\n').match(/(?<=^kind: )\w+$/gm));
      for (const kind of [
        'Deployment',
        'Service',
        'ConfigMap',
        'HorizontalPodAutoscaler',
        'PodDisruptionBudget',
      ])
        assert(kinds.has(kind), kind);
      for (const kind of ['NetworkPolicy', 'ServiceMonitor', 'PrometheusRule', 'ServiceAccount'])
        assert(kinds.has(kind), kind);
      writeFileSync(join(lab.folder, 'rendered.yaml'), rendered.join('\n'));
    },
  ],
  [
    'kubeconform takes what helm renders',
    (lab) => {
      needs('helm', 'kubeconform');
      run('kubeconform', ['-strict', '-ignore-missing-schemas', join(lab.folder, 'rendered.yaml')]);
    },
  ],
];

interface Services {
  readonly services: { readonly 'ref-proxy': { readonly command: readonly string[] } };
}

/** `-backend` of `-backend=...` in the arguments of a template. */
function flagsIn(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return text.match(/(?<=^\s*- |printf ")-[a-z][\w.-]*(?==)/gm) ?? [];
}
