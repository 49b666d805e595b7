import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { packageRoot } from '../../../core/kernel/options/index.js';

const root = packageRoot();

/** Builds the page like `npm run page`, into a separate folder. */
async function buildPage(): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-page-'));
  try {
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: { page: string };
    };
    const [program = '', ...args] = manifest.scripts.page.split(' ');
    const moved = args.map((arg) => (arg.startsWith('--outdir=') ? `--outdir=${folder}` : arg));
    await promisify(execFile)(join(root, 'node_modules/.bin', program), moved, { cwd: root });
    const names = await readdir(folder);
    return new Map(
      await Promise.all(
        names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
      ),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('the page is small, whole and says nothing to anybody else', async (t) => {
  const page = await buildPage();
  const first = ['icon.svg', 'index.html', 'main.css', 'main.js'];
  t.deepEqual([...page.keys()].sort(), [...first, 'licences.txt', 'uplot.js'].sort());

  // A browser loads the licences only on demand, and the chart code with the first chart.
  const loaded = [...page].filter(([name]) => name !== 'licences.txt');
  const sent = (files: typeof loaded): number =>
    files.reduce((sum, [, text]) => sum + gzipSync(text).length, 0);
  t.true(sent(loaded) < 250_000, `${sent(loaded)} bytes`);
  // Most of it is the editor.
  const atFirst = sent(loaded.filter(([name]) => first.includes(name)));
  t.true(atFirst < 227_000, `${atFirst} bytes`);

  const html = page.get('index.html') ?? '';
  t.false(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/.test(html), 'nothing is inline');
  for (const [, reference = ''] of html.matchAll(/(?:src|href)="([^"]*)"/g))
    t.true(page.has(reference), reference);

  const addresses = loaded.flatMap(([name, text]) =>
    [...text.matchAll(/(?:https?:)?\/\/[a-z][\w.-]*\.[a-z]+/gi)].map(([found]) => `${name} ${found}`),
  );
  // Names of vocabularies, which are never fetched.
  t.deepEqual(
    addresses.filter((found) => !found.endsWith('//www.w3.org')),
    [],
  );
});

test('the page names every package that it holds, with its licence', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-parts-'));
  try {
    const parts = join(folder, 'parts.json');
    const args = [
      'plugins/ui/browser/main.tsx',
      '--bundle',
      '--minify',
      '--format=esm',
      `--outdir=${folder}`,
      `--metafile=${parts}`,
    ];
    await promisify(execFile)(join(root, 'node_modules/.bin/esbuild'), args, { cwd: root });
    const { outputs } = JSON.parse(await readFile(parts, 'utf8')) as {
      outputs: Readonly<Record<string, { inputs: Readonly<Record<string, { bytesInOutput: number }>> }>>;
    };
    const held = new Set(
      Object.values(outputs)
        .flatMap(({ inputs }) => Object.entries(inputs))
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .flatMap(([path]) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
    );
    const lines = new Set(
      (await readFile(join(root, 'plugins/ui/browser/licences.txt'), 'utf8')).split('\n'),
    );
    t.true(held.size > 5);
    t.deepEqual(
      [...held].filter((name) => !lines.has(name)),
      [],
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
