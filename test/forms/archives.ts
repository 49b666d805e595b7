import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../core/program/child.js';
import { root, run, type Check, type Lab } from './check.js';
import { answersAndEnds } from './program.js';
import { range } from './yesterday.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

// package.json is the manifest of this package.
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const base = `${name.split('/').at(-1)}-${version}`;
const checksLibrary = join(root, 'deploy', 'release', 'checks.js');

/** The name of an archive of the release. */
export function archiveOf(ending: string): string {
  return base + ending;
}

/** Unpacks an archive of the release and returns the folder in it. */
export function unpacked({ release, folder }: Lab, ending: string): string {
  const target = join(folder, `unpacked${ending.replaceAll('.', '-')}`);
  mkdirSync(target);
  run('tar', ['-xzf', join(release, archiveOf(ending)), '-C', target]);
  const [inside] = readdirSync(target);
  assert(inside);
  return join(target, inside);
}

export const plainTarball = `-${process.platform}-${process.arch}.tar.gz`;

export const archiveChecks: readonly Check[] = [
  [
    'the release has every form under the name and version of package.json, with right checksums',
    ({ release }) => {
      const forms = ['.tgz', '.cdx.json', plainTarball, '-container.tar.gz', '-chart.tgz'];
      const wanted = ['SHA256SUMS', ...forms.map((ending) => base + ending)].sort();
      assert.deepEqual(readdirSync(release).sort(), wanted);
      run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: release });
    },
  ],
  ['a release without a section of its version in the changelog is refused', refusesChangelog],
  [
    'the plain tarball runs where it is unpacked, with a disk cache, threads and plugins of a site, and without a compiler',
    async (lab) => {
      const folder = unpacked(lab, plainTarball);
      for (const each of ['node-gyp', 'prebuild-install', 'typescript', 'esbuild'])
        assert(!existsSync(join(folder, 'node_modules', each)), each);
      const sbom = readFileSync(join(folder, 'sbom.cdx.json'), 'utf8');
      for (const path of modulesIn(folder))
        assert(sbom.includes(`"name": "${path.slice(path.lastIndexOf('node_modules/') + 13)}"`), path);
      const url = `127.0.0.1:${await freePort()}`;
      const data = newFolderIn(lab);
      const args = ['-admin-listen=127.0.0.1:0', `-disk-cache-path=${join(data, 'cache.db')}`];
      const threads = ['-row-threads=1', '-row-threads-min-rows=0', '-server.register-instrumentation=true'];
      const program = join(folder, 'bin', 'ref-proxy');
      const flags = [`-listen=${url}`, `-backend=${lab.backend}`, ...args, ...threads];
      const taken = await answersAndEnds([program, 'serve', ...flags], `http://${url}`, { cwd: data }, () =>
        countsInThread(`http://${url}`),
      );
      console.log(`      ${taken}`);
      assert(existsSync(join(data, 'cache.db')), 'the disk cache is written');
      // The program's code is bundled: plugins loaded by path share it.
      run(program, ['test', join(folder, 'examples')]);
    },
  ],
];

/**
 * Sends a metric query that depends on the order of its rows, so that a worker thread reads and counts them. The thread is loaded by file
 * path.
 */
async function countsInThread(url: string): Promise<void> {
  const query = encodeURIComponent(
    'first_over_time({app="shop"} | regexp "took (?P<ms>[0-9]+)" | unwrap ms [5m])',
  );
  const answer = await fetch(`${url}/loki/api/v1/query_range?query=${query}&step=300&${range()}`);
  assert.equal(answer.status, 200, await answer.text());
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^ref_proxy_row_threads_jobs_total\{[^}]*outcome="done"[^}]*\} [1-9]/m);
}

function newFolderIn(lab: Lab): string {
  const folder = join(lab.folder, 'data');
  mkdirSync(folder);
  return folder;
}

/** The folders of the packages in a tree. */
function modulesIn(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const manifest = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/package\.json$)/;
  return files.flatMap((file) => manifest.exec(file)?.[0] ?? []);
}

interface Checks {
  readonly checkChangelog: (text: string, version: string, isDraft: boolean) => void;
  readonly checkChart: (text: string, version: string) => void;
}

async function refusesChangelog(): Promise<void> {
  // JavaScript of this repository.
  const { checkChangelog, checkChart } = (await import(checksLibrary)) as Checks;
  const text =
    '# Changelog\n\n## 1.2.0, 2026-11-26\n\n- News.\n\n## 1.1.0, not yet released\n\n- Older.\n\n## 1.0.0\n\n';
  checkChangelog(text, '1.2.0', false);
  checkChangelog(text, '1.1.0', true);
  assert.throws(() => checkChangelog(text, '1.1.0', false), /not yet released.*YYYY-MM-DD/);
  assert.throws(() => checkChangelog(text, '1.2.1', true), /no section "## 1\.2\.1"/);
  assert.throws(() => checkChangelog(text, '1.0.0', true), /is empty/);
  assert.throws(
    () => checkChart('version: 1.2.0\nappVersion: "1.1.0"\n', '1.2.0'),
    /appVersion .* is 1\.1\.0/,
  );
}
