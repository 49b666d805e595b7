import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import type { DevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile, type FileSettings, type ProxyUnderTest } from '../../../../core/testing/index.js';
import { push } from '../../../plugins/tail/fixtures.js';

/** The stages of a file, each with its options as JSON or YAML flow. */
export type Stages = readonly (readonly [use: string, options?: string])[];

/** A proxy whose pipeline file the test changes. */
export interface Reloading extends ProxyUnderTest {
  readonly backend: DevBackend;
  readonly folder: string;
  readonly file: string;
  /** Overwrites the file with these parts. */
  write(parts: FileParts): Promise<void>;
  /** Requests a reload over HTTP. */
  reload(headers?: Readonly<Record<string, string>>): Promise<Reported>;
  get(path: string, base?: string): Promise<{ readonly status: number; readonly text: string }>;
  /** The value of a series, named without the prefix and with its labels; undefined if it does not exist. */
  metric(series: string): Promise<string | undefined>;
}

export interface FileParts {
  readonly stages?: Stages;
  readonly endpoints?: Stages;
  /** Sections, as YAML lines. */
  readonly sections?: string;
}

/** The body and status of `POST /admin/reload`. */
export interface Reported {
  readonly status: number;
  readonly result: string;
  readonly hash: string;
  readonly findings: readonly { readonly at: string; readonly message: string; readonly fix?: string }[];
  readonly workers: readonly {
    readonly worker: number;
    readonly result: string;
    readonly generation: number;
  }[];
}

export const usualStages = (backend: string): Stages => [
  ['tenancy'],
  ['guard'],
  ['tier0'],
  ['translate'],
  ['peer-cache'],
  ['backend', `{ url: '${backend}' }`],
  ['response-shape'],
];
const usualEndpoints: Stages = [
  ['reference-api'],
  ['tail', `{ refreshInterval: '20ms' }`],
  ['status'],
  ['admin'],
];

export function yamlOf(backend: string, { stages, endpoints, sections = '' }: FileParts): string {
  const lines = (all: Stages): string =>
    all
      .map(([use, options]) => `  - use: ${use}\n${options === undefined ? '' : `    with: ${options}\n`}`)
      .join('');
  return `version: 1\n${sections}stages:\n${lines(stages ?? usualStages(backend))}endpoints:\n${lines(endpoints ?? usualEndpoints)}`;
}

/** Starts a proxy with a pipeline file and passes both to a test. `modules` are other files in the same folder. */
export async function withReloading(
  use: (under: Reloading) => Promise<void>,
  setting: FileSettings & {
    readonly first?: FileParts;
    readonly modules?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  const backend = await startDevBackend();
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-reload-'));
  try {
    await push(backend.url, [{ text: 'one', ageMs: 600_000 }]);
    const file = join(folder, 'pipeline.yaml');
    for (const [name, text] of Object.entries(setting.modules ?? {}))
      await writeFile(join(folder, name), text);
    const write = (parts: FileParts): Promise<void> => writeFile(file, yamlOf(backend.url, parts));
    await write(setting.first ?? {});
    const flags = { 'server.register-instrumentation': 'true', ...setting.flags };
    await withProxyFile(
      file,
      (under) => {
        const { proxy, url } = under;
        const get: Reloading['get'] = async (path, base = url) => {
          const { statusCode, body } = await request(base + path);
          return { status: statusCode, text: await body.text() };
        };
        return use({
          ...under,
          backend,
          folder,
          file,
          write,
          get,
          reload: async (headers = {}) => {
            const { statusCode, body } = await request(`${proxy.urls.admin ?? url}/admin/reload`, {
              method: 'POST',
              headers,
            });
            // The tests check the fields that they read.
            return { status: statusCode, ...((await body.json()) as Omit<Reported, 'status'>) };
          },
          metric: async (series) => {
            const { text } = await get('/metrics');
            const line = text.split('\n').find((one) => one.startsWith(`ref_proxy_${series} `));
            return line?.split(' ').at(-1);
          },
        });
      },
      { ...setting, flags },
    );
  } finally {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A stage that adds a header to every response it sees, so that clients can tell if it was in the pipeline. */
export const marking = `import { appendFileSync } from 'node:fs';
export default {
  kind: 'stage', name: 'marking', summary: 'Notes what happens to it.', needs: [], gives: [], rest: 'once', behindCaches: true,
  schema: { type: 'object', additionalProperties: false, properties: { notes: { type: 'string' }, fails: { type: 'boolean', default: false } } },
  create: ({ notes, fails }) => {
    const note = (text) => notes && appendFileSync(notes, text + '\\n');
    return {
      start: async () => { note('start'); if (fails) throw new Error('not today'); },
      stop: async () => note('stop'),
      handle: async (exchange, rest) => { note('request'); return rest(exchange); },
    };
  },
};
`;
