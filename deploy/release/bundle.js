// Makes few files of the code of a tree, with that of the packages that it imports: loading some 1,400 modules takes twice as long, and Node.js
// keeps their texts in memory, comments too. The packages stay in node_modules for plugins of a site.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

/** What is not in the tree, or brings a native library that it finds by its own place. */
const external = ['sqlite3', 'dtrace-provider', 'json-schema-to-typescript'];
/** For browsers, and bundled already. */
const page = 'dist/plugins/ui/page/';
/**
 * The first line of each file: packages in CommonJS require modules of Node.js, and modules may move, so that they know their place by the
 * folder of the tree.
 */
const banner = `import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url),treeUrl=import.meta.url.slice(0,import.meta.url.lastIndexOf('/dist/')+1);`;

/**
 * What is loaded by its path stays where it was: the program, what package.json exports, plugins and threads. They share all other code, so that
 * a plugin of a site has the very classes of the program.
 */
export async function bundle(folder) {
  const code = filesIn(folder, 'dist').filter((file) => file.endsWith('.js') && !file.startsWith(page));
  const texts = new Map(code.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  const threads = code.flatMap((file) => threadsOf(file, texts.get(file)));
  if (threads.length === 0) throw new Error('no module starts a thread: the way to find them is wrong');
  const { bin, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [
      ...Object.values(bin),
      ...Object.values(exports).map((each) => each.default),
      ...code.filter((file) => /^dist\/plugins\/[^/]+\/index\.js$/.test(file)),
      ...threads,
    ],
    outbase: 'dist',
    outdir: 'dist',
    chunkNames: 'chunks/[hash]',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    external,
    // Two packages bring it, in versions that differ in data only.
    alias: { 'mime-db': './node_modules/mime-db' },
    banner: { js: banner },
    plugins: [{ name: 'places', setup: (on) => keepPlaces(on, folder, texts) }],
    logLevel: 'warning',
  });
  for (const file of code) rmSync(join(folder, file));
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}

/** Files that a module starts as threads, `new URL('./worker.js', import.meta.url)`. */
function threadsOf(file, text) {
  const names = [...text.matchAll(/new URL\(['"]\.\/([\w-]+\.js)['"],\s*import\.meta\.url\)/g)];
  return names.map(([, name]) => join(dirname(file), name));
}

/** A module that asks where it is gets the place that it had before. */
function keepPlaces(on, folder, texts) {
  on.onLoad({ filter: /\.js$/ }, ({ path }) => {
    const file = path.slice(folder.length + 1);
    const text = texts.get(file);
    if (text === undefined || !text.includes('import.meta.url')) return undefined;
    return { contents: text.replaceAll('import.meta.url', `(treeUrl+${JSON.stringify(file)})`) };
  });
}

/** The paths of all files of a folder in `root`. */
function filesIn(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, path) : [path];
  });
}
