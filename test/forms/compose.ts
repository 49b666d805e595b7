import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../core/program/child.js';
import { plainTarball, unpacked } from './archives.js';
import { dataSource, needs, NotRun, readYaml, root, run, type Check } from './check.js';
import { answersAndEnds } from './program.js';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const folder = join(root, 'deploy', 'compose');

export const composeChecks: readonly Check[] = [
  [
    'the compose file names versions, files and services that there are',
    () => {
      const { services, volumes } = composeFile();
      for (const [name, { image, build, volumes: mounts = [], depends_on }] of Object.entries(services)) {
        assert.match(image, /^(?:docker\.io\/[\w-]+\/[\w-]+:v?\d+\.\d+\.\d+|ref-proxy:local)$/, name);
        if (build) assert(existsSync(join(folder, build.context, build.dockerfile)), build.dockerfile);
        for (const mount of mounts) {
          const [source = ''] = mount.split(':');
          if (source.startsWith('.')) assert(existsSync(join(folder, source)), source);
          else assert(source.startsWith('/') || source in volumes, source);
        }
        for (const other of Array.isArray(depends_on) ? depends_on : Object.keys(depends_on ?? {}))
          assert(String(other) in services, String(other));
      }
      const { hostname, port } = new URL(dataSource().url);
      assert(hostname in services);
      assert.equal(port, '3100');
    },
  ],
  [
    'the service of the compose file serves, and its metrics are where Prometheus looks for them',
    async (lab) => {
      const { 'ref-proxy': service, prometheus } = composeFile().services;
      const state = join(lab.folder, 'compose');
      mkdirSync(state);
      const [port, metrics] = [await freePort(), await freePort()];
      const args = (service?.command ?? []).map((arg) =>
        arg
          .replace('http://victoria-logs:9428', lab.backend)
          .replace(':9091', `127.0.0.1:${metrics}`)
          .replace('/var/lib/ref-proxy', state),
      );
      const { scrape_configs } = readYaml('deploy/compose/prometheus.yaml') as Scrapes;
      assert.deepEqual(scrape_configs[0]?.static_configs[0]?.targets, ['ref-proxy:9091']);
      assert(prometheus?.command?.includes('--config.file=/etc/prometheus/prometheus.yaml'));
      const tree = unpacked({ ...lab, folder: state }, plainTarball);
      const more = [`-listen=127.0.0.1:${port}`, '-admin-listen=127.0.0.1:0'];
      const program = join(tree, 'bin', 'ref-proxy');
      const url = `http://127.0.0.1:${port}`;
      await answersAndEnds([program, ...args, ...more], url, { cwd: state }, async () => {
        const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
        assert.match(text, /^ref_proxy_uptime_seconds /m);
      });
    },
  ],
  [
    'Prometheus takes its configuration and the rules',
    () => {
      needs('promtool');
      run('promtool', ['check', 'rules', join(root, 'examples', 'monitoring', 'alerts.yaml')]);
      run('promtool', ['check', 'config', '--syntax-only', join(folder, 'prometheus.yaml')]);
    },
  ],
  [
    'docker compose reads the file',
    () => {
      const args = ['-f', join(folder, 'compose.yaml'), 'config', '--quiet'];
      if (isCompose('docker', ['compose'])) run('docker', ['compose', ...args]);
      else if (isCompose('docker-compose', [])) run('docker-compose', args);
      else throw new NotRun('neither docker compose nor docker-compose is installed in version 2 or newer');
    },
  ],
];

/** True if a program supports the Compose Specification; version 1 did not. */
function isCompose(program: string, args: readonly string[]): boolean {
  const { status, stdout } = spawnSync(program, [...args, 'version', '--short'], { encoding: 'utf8' });
  return status === 0 && /^v?(?!1\.)\d+\./.test(stdout);
}

interface Scrapes {
  readonly scrape_configs: readonly {
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }[];
}

function composeFile(): Compose {
  return readYaml('deploy/compose/compose.yaml') as Compose;
}
