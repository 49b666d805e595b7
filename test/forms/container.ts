/**
 * Builds the image from its Containerfile with buildah. No registry is used: both base images are made from this machine, the first with
 * its
 * compilers and the second with its Node.js and the libraries it loads. FORMS_NODE names another Node.js for the second.
 */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../core/program/child.js';
import { unpacked } from './archives.js';
import { needs, NotRun, readYaml, run, type Check, type Lab } from './check.js';
import { answersAndEnds } from './program.js';

const tag = 'localhost/ref-proxy-forms:test';
/** The base images for the Containerfile; nothing is pulled. */
const bases = { build: 'localhost/forms-build:test', run: 'localhost/forms-run:test' };
/** Folders of this machine that the build uses instead of those of a base image. */
const mounted = ['/usr', '/etc/alternatives', '/etc/ssl'];

interface Inspected {
  readonly Docker: {
    readonly config: {
      readonly User: string;
      readonly Env: readonly string[];
      readonly Entrypoint: readonly string[];
      readonly Cmd: readonly string[];
      readonly Labels: Readonly<Record<string, string>>;
      readonly Healthcheck?: { readonly Test: readonly string[] };
    };
    readonly rootfs: { readonly diff_ids: readonly string[] };
  };
}

export const containerChecks: readonly Check[] = [
  [
    'the image is built, and serves on a read-only root as a user without rights, and tells its health',
    async (lab) => {
      needs('buildah', 'unshare', 'chroot', 'g++', 'make', 'python3', 'ldd');
      if (process.getuid?.() !== 0) throw new NotRun('building and mounting an image here needs root');
      if (!process.execPath.startsWith('/usr/'))
        throw new NotRun(`Node.js is not below /usr: ${process.execPath}`);
      const buildah = buildahIn(lab);
      makeBases(lab, buildah);
      const context = unpacked(lab, '-container.tar.gz');
      const { version } = readYaml('package.json') as { readonly version: string };
      buildah(
        ...['build', '--isolation=chroot', '--format=docker', '--pull=never', `--tag=${tag}`],
        ...volumes(),
        ...[`--build-arg=BUILD_IMAGE=${bases.build}`, `--build-arg=RUN_IMAGE=${bases.run}`],
        // Compiled without optimisation, because the check only requires that it compiles.
        ...['--build-arg=NODE_DIR=/usr', '--build-arg=CFLAGS=-O0', `--build-arg=VERSION=${version}`],
        ...['--file', join(context, 'deploy/container/Containerfile'), context],
      );
      const { config, rootfs } = (JSON.parse(buildah('inspect', '--type=image', tag)) as Inspected).Docker;
      assert.match(config.User, /^[1-9]\d*:\d+$/);
      assert.equal(config.Labels['org.opencontainers.image.version'], version);
      const container = buildah('from', '--pull=never', tag).trim();
      const rootFolder = buildah('mount', container).trim();
      assert(existsSync(join(rootFolder, 'app/sbom.cdx.json')));
      const app = run('du', ['-sm', join(rootFolder, 'app')]).split('\t')[0];
      const all = run('du', ['-sm', rootFolder]).split('\t')[0];
      console.log(
        `      ${all} MB with Node.js, ${app} MB of it ref-proxy; ${rootfs.diff_ids.length} layers`,
      );
      const port = await freePort();
      const flags = [`-listen=127.0.0.1:${port}`, '-admin-listen=127.0.0.1:0', `-backend=${lab.backend}`];
      const kept = ['-disk-cache-path=/var/lib/ref-proxy/cache.db'];
      const command = [...config.Entrypoint, ...config.Cmd, ...flags, ...kept];
      const inside = inContainer(rootFolder, config, command);
      const [, ...health] = config.Healthcheck?.Test ?? [];
      const healthcheck = inContainer(rootFolder, config, [...health, `-listen=127.0.0.1:${port}`]);
      assert.throws(() => run(...split(healthcheck)), 'nobody serves yet');
      const taken = await answersAndEnds(inside, `http://127.0.0.1:${port}`, {}, () => {
        run(...split(healthcheck));
        return Promise.resolve();
      });
      console.log(`      ${taken}`);
      buildah('rm', container);
    },
  ],
];

function split([program, ...args]: [string, ...string[]]): [string, string[]] {
  return [program, args];
}

type Buildah = (command: string, ...args: readonly string[]) => string;

/** Runs buildah with a separate image store, not with that of this machine. */
function buildahIn({ folder }: Lab): Buildah {
  const storage = join(folder, 'storage.conf');
  const places = `graphroot = "${join(folder, 'images')}"\nrunroot = "${join(folder, 'run')}"\n`;
  writeFileSync(storage, `[storage]\ndriver = "vfs"\n${places}`);
  const policy = join(folder, 'policy.json');
  writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storage, BUILDAH_ISOLATION: 'chroot' };
  return (command: string, ...args) => {
    const takesPolicy = command === 'build' || command === 'from' ? ['--signature-policy', policy] : [];
    return run('buildah', [command, ...takesPolicy, ...args], { env });
  };
}

function volumes(): readonly string[] {
  const cache = run('npm', ['config', 'get', 'cache']).trim();
  mkdirSync(cache, { recursive: true });
  const settings = join(homedir(), '.npmrc');
  return [
    ...mounted.map((folder) => `--volume=${folder}:${folder}:ro`),
    `--volume=${cache}:/root/.npm`,
    ...(existsSync(settings) ? [`--volume=${settings}:/root/.npmrc:ro`] : []),
  ];
}

function makeBases({ folder }: Lab, buildah: Buildah): void {
  const build = join(folder, 'build-base');
  for (const each of [...mounted, '/root', '/tmp', '/var/tmp'])
    mkdirSync(join(build, each), { recursive: true });
  for (const each of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${each}`, join(build, each));
  const node = process.env['FORMS_NODE'] ?? process.execPath;
  const serving = join(folder, 'run-base');
  for (const each of ['/nodejs/bin', '/proc', '/dev', '/etc', '/tmp'])
    mkdirSync(join(serving, each), { recursive: true });
  copyFileSync(node, join(serving, '/nodejs/bin/node'));
  for (const library of run('ldd', [node]).match(/\/\S+(?= \()/g) ?? []) {
    mkdirSync(join(serving, dirname(library)), { recursive: true });
    copyFileSync(library, join(serving, library));
  }
  for (const [name, content] of [
    [bases.build, build],
    [bases.run, serving],
  ] as const) {
    writeFileSync(join(folder, 'Base'), 'FROM scratch\nCOPY . /\n');
    buildah(
      'build',
      '--quiet',
      '--isolation=chroot',
      `--tag=${name}`,
      '--file',
      join(folder, 'Base'),
      content,
    );
  }
}

/** Runs a command as in a container: only the read-only image, and an empty data folder. */
function inContainer(
  rootFolder: string,
  { User, Env }: Inspected['Docker']['config'],
  command: readonly string[],
): [string, ...string[]] {
  const [user = '', group = ''] = User.split(':');
  const script = `
    set -e
    mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev"
    mount -t tmpfs -o mode=0770,uid=${user},gid=${group} data "$1/var/lib/ref-proxy"
    root=$1 && shift
    exec env -i ${Env.map((each) => `'${each}'`).join(' ')} "$(command -v chroot)" --userspec=${user}:${group} --groups= "$root" "$@"`;
  return ['unshare', '--mount', '--propagation=private', 'sh', '-c', script, 'sh', rootFolder, ...command];
}
