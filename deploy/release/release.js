// npm run release: makes every form of this version into dist/release. `-- --draft` also where CHANGELOG.md says "not yet released".
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkChangelog, checkChart } from './checks.js';
import { name, packageFile, root, version } from './manifest.js';
import { layOut, pack, packed } from './tree.js';

/** `--to=FOLDER`: where to; what is in it goes. */
const to = process.argv.find((text) => text.startsWith('--to='))?.slice('--to='.length);
const target = to === undefined ? join(root, 'dist', 'release') : resolve(to);
const isDraft = process.argv.includes('--draft');
/** `--packed`: a package in dist was packed just now. */
const isPacked = process.argv.includes('--packed');

/** What the Containerfile copies, beside the package. */
const context = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'LICENSE',
  'deploy/container',
  'deploy/release',
];

checkChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, isDraft);
checkChart(readFileSync(join(root, 'deploy/helm/ref-proxy/Chart.yaml'), 'utf8'), version);
if (isPacked) packed();
else pack();
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const work = mkdtempSync(join(tmpdir(), `${name}-release-`));
try {
  cpSync(join(root, 'dist', packageFile), join(target, packageFile));

  // The native library in it makes it one for this system and processor.
  const folder = `${name}-${version}`;
  await layOut(join(work, folder));
  cpSync(join(work, folder, 'sbom.cdx.json'), join(target, `${folder}.cdx.json`));
  archive(`${folder}-${process.platform}-${process.arch}.tar.gz`, work, folder);

  const image = join(work, 'image', `${folder}-container`);
  for (const path of context) cpSync(join(root, path), join(image, path), { recursive: true });
  mkdirSync(join(image, 'dist'));
  cpSync(join(root, 'dist', packageFile), join(image, 'dist', packageFile));
  archive(`${folder}-container.tar.gz`, join(work, 'image'), `${folder}-container`);

  // As `helm package` names it. The rules and the dashboard are links into examples.
  archive(`${folder}-chart.tgz`, join(root, 'deploy', 'helm'), 'ref-proxy', '--dereference');

  const files = readdirSync(target).sort();
  writeFileSync(join(target, 'SHA256SUMS'), files.map((file) => `${sha256(file)}  ${file}\n`).join(''));
  process.stdout.write(`${target}:\n${[...files, 'SHA256SUMS'].map((file) => `  ${file}\n`).join('')}`);
} finally {
  rmSync(work, { recursive: true });
}

/** Equal files give equal archives: names are sorted, times and owners left out. */
function archive(file, folder, entry, ...more) {
  const args = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', ...more];
  const tar = execFileSync('tar', [...args, '-C', folder, '-cf', '-', entry], { maxBuffer: 2 ** 29 });
  writeFileSync(join(target, file), execFileSync('gzip', ['-n', '-9'], { input: tar, maxBuffer: 2 ** 29 }));
}

function sha256(file) {
  return createHash('sha256')
    .update(readFileSync(join(target, file)))
    .digest('hex');
}
