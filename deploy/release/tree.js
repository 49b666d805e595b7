// node deploy/release/tree.js FOLDER: lays out what a machine needs to run ref-proxy besides Node.js: the package, the packages that it
// depends on and the SQLite library of the disk cache, as node_modules of the repository holds them. Needs no network.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bundle } from './bundle.js';
import { packageFile, root } from './manifest.js';

const library = 'node_modules/sqlite3';
const binary = 'build/Release/node_sqlite3.node';
/** What sqlite3 needs when it runs. The others that it names download or compile it. */
const loads = ['bindings'];
/** Optional packages of bunyan that the program never reaches: probes of DTrace, dates of bunyan's own command, files that rotate. */
const unused = new Set(['dtrace-provider', 'moment', 'mv']);

/** The packed package: the one in dist, as a release or the context of an image has it, or a new one. */
export function packed() {
  const file = join(root, 'dist', packageFile);
  if (!existsSync(file)) pack();
  return file;
}

/** Packs from a clean build. */
export function pack() {
  const args = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', 'dist'];
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Lays the tree out in a folder that is not there yet. */
export async function layOut(folder) {
  if (!existsSync(join(root, library, binary)))
    throw new Error(
      'sqlite3 is not built; build it with: npm rebuild sqlite3 --ignore-scripts=false --foreground-scripts',
    );
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', packed(), '--strip-components=1', '-C', folder]);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const path of neededPaths(packages)) copyModule(path, folder);
  trimLibrary(join(folder, library));
  trimManifest(join(folder, 'package.json'), packages[library].version);
  mkdirSync(join(folder, 'bin'));
  symlinkSync('../dist/core/program/main.js', join(folder, 'bin', 'ref-proxy'));
  writeFileSync(join(folder, 'sbom.cdx.json'), sbomOf(folder));
  await bundle(folder);
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
  execFileSync('chmod', ['755', join(folder, 'dist/core/program/main.js')]);
}

/** Packages that the program depends on, as the lock file resolves them: each where the one that needs it finds it. */
function neededPaths(packages) {
  const wanted = new Set();
  const add = (from, name) => {
    const path = found(packages, from, name);
    if (path === undefined || wanted.has(path) || unused.has(name)) return;
    wanted.add(path);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[path];
    const needs = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    for (const next of path === library ? loads : Object.keys(needs)) add(path, next);
  };
  for (const name of [...Object.keys(packages[''].dependencies), 'sqlite3']) add('', name);
  return [...wanted].sort();
}

/** Where Node finds a package that is imported from another one. */
function found(packages, from, name) {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder === '.' ? '' : folder, 'node_modules', name);
    if (path in packages) return path;
    if (folder === '' || folder === '.') return undefined;
  }
}

/** What only compilers and readers of sources use stays out; licences come along. */
const unneeded = /\.(?:map|ts|mts|cts|md|markdown|gyp)$|\/(?:test|tests|__tests__)$/;

function copyModule(path, folder) {
  const source = join(root, path);
  if (!existsSync(source)) return;
  const isKept = (file) => {
    const inside = file.slice(source.length);
    if (inside.startsWith('/node_modules')) return false;
    return !unneeded.test(inside) || /licen[cs]e|notice/i.test(inside);
  };
  cpSync(source, join(folder, path), { recursive: true, dereference: true, filter: isKept });
}

/** Sources, objects and the download of the library are not needed, nor are the packages that made it. */
function trimLibrary(folder) {
  const built = readFileSync(join(folder, binary));
  for (const part of ['build', 'deps', 'src', 'node-addon-api'])
    rmSync(join(folder, part), { recursive: true, force: true });
  mkdirSync(dirname(join(folder, binary)), { recursive: true });
  writeFileSync(join(folder, binary), built);
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const dependencies = { bindings: manifest.dependencies.bindings };
  for (const each of ['optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'])
    delete manifest[each];
  writeFileSync(file, `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`);
}

/** The packages that are there, so that `npm ls` and `npm sbom` tell no others. */
function trimManifest(file, sqlite3) {
  const { devDependencies, peerDependencies, peerDependenciesMeta, scripts, ...manifest } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const dependencies = { ...manifest.dependencies, sqlite3 };
  writeFileSync(file, `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`);
}

/** The packages of a tree, as CycloneDX; without the time and number of the run, so that equal trees have equal files. */
export function sbomOf(folder) {
  const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const { serialNumber, ...sbom } = JSON.parse(text);
  delete sbom.metadata.timestamp;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

if (process.argv[1] === import.meta.filename) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('usage: node deploy/release/tree.js FOLDER');
  await layOut(resolve(folder));
}
