// What package.json says of this release: the only place where its name and version stand.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

export const { version } = manifest;
/** The name without a scope: of archives, the image and the chart. */
export const name = manifest.name.split('/').at(-1);
/** The file that `npm pack` writes. */
export const packageFile = `${manifest.name.replace('@', '').replace('/', '-')}-${version}.tgz`;
