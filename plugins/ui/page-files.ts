import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { finishedAnswer, textAnswer } from '../../core/wire/answer/encode.js';
import { apiError, type Answer, type HttpCall } from '../../core/plugin/index.js';

/** The folder, next to the compiled plugin, in which `npm run build` puts the page. */
export const pageFolder = new URL('./page/', import.meta.url);

const compress = promisify(gzip);

const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
]);

/** Everything comes from this origin, nothing is inline, and no other site may frame the page or submit forms from it. */
const securityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface PageFile {
  readonly contentType: string;
  readonly etag: string;
  readonly plain: Buffer;
  /** Compressed for the first client that accepts it: a proxy whose page nobody opens starts sooner. */
  gzipped?: Promise<Buffer>;
}

/** The files of the page, in memory. */
export class PageFiles {
  #files: ReadonlyMap<string, PageFile> = new Map();

  constructor(private readonly folder: URL) {}

  /** Reads the files; a missing folder counts as empty. */
  async load(): Promise<void> {
    const names = await readdir(this.folder).catch(() => []);
    const known = names.filter((name) => contentTypes.has(extname(name)));
    this.#files = new Map(
      await Promise.all(known.map(async (name) => [name, await this.#read(name)] as const)),
    );
  }

  /** Answers `/ui/` and `/ui/{file}`; `/ui` redirects to `/ui/`, so that the page finds its files by relative paths behind any proxy. */
  async answer({ path, pathParams, caller }: HttpCall): Promise<Answer> {
    if (path === '/ui') return finishedAnswer(302, Buffer.alloc(0), '', new Map([['Location', 'ui/']]));
    if (this.#files.size === 0) return textAnswer(503, 'the page is not built: npm run build\n');
    const file = this.#files.get(pathParams.get('file') ?? 'index.html');
    if (file === undefined) throw apiError('notFound', {});
    const headers = new Map([
      ['Cache-Control', 'no-cache'],
      ['ETag', file.etag],
      ['Content-Security-Policy', securityPolicy],
      ['Referrer-Policy', 'no-referrer'],
      ['Vary', 'Accept-Encoding'],
    ]);
    if (caller.headers.get('if-none-match') === file.etag) {
      return finishedAnswer(304, Buffer.alloc(0), '', headers);
    }
    if (!/\bgzip\b/.test(caller.headers.get('accept-encoding') ?? '')) {
      return finishedAnswer(200, file.plain, file.contentType, headers);
    }
    headers.set('Content-Encoding', 'gzip');
    const gzipped = await (file.gzipped ??= compress(file.plain, { level: 9 }));
    return finishedAnswer(200, gzipped, file.contentType, headers);
  }

  async #read(name: string): Promise<PageFile> {
    const plain = await readFile(new URL(name, this.folder));
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    const contentType = contentTypes.get(extname(name)) ?? 'application/octet-stream';
    return { contentType, etag, plain };
  }
}
