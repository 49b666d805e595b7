import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFiles } from '../../../../core/kernel/check/index.js';
import { builtInDefinitions, FlagIndex } from '../../../../core/kernel/options/index.js';
import { siteDefinitions } from '../../../../core/program/site-flags.js';
import { loadPipeline } from '../../../../core/kernel/pipeline/index.js';
import { startProxy } from '../../../../core/program/start-proxy.js';
import { CapturedLog, withProxyFile, type LogRecord } from '../../../../core/testing/index.js';

/** A stage that answers every request, for the end of the chain. */
const end = `export default {
  kind: 'stage', name: 'end', summary: 'Answers.', needs: [], gives: [], rest: 'never',
  create: () => ({ handle: async () => ({ kind: 'names', values: ['one'], warnings: [] }) }),
};
`;

/** A folder of a site: a pipeline file, the plugin under test and another module. */
export interface Site {
  /** The text of `odd.mjs`. */
  readonly odd?: string;
  /** The text of `other.mjs`. */
  readonly other?: string;
  /** The whole pipeline file. */
  readonly pipeline: string;
}

/** The response to a request, and its log records and metrics. */
export interface Asked {
  readonly status: number;
  readonly text: string;
  readonly records: readonly LogRecord[];
  readonly metrics: string;
}

/** Writes a site, passes its pipeline file to a test, and removes the site. */
export async function withSite<Result>(site: Site, use: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-agreement-'));
  try {
    await writeFile(join(folder, 'end.mjs'), end);
    if (site.odd !== undefined) await writeFile(join(folder, 'odd.mjs'), site.odd);
    if (site.other !== undefined) await writeFile(join(folder, 'other.mjs'), site.other);
    const file = join(folder, 'pipeline.yaml');
    await writeFile(file, site.pipeline);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The errors that `ref-proxy check` reports for a file, one line each. */
export async function checked(file: string): Promise<readonly string[]> {
  const findings = await checkFiles([file], { sources: { flags: new Map(), env: {} } });
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, at, message, fix }) => `${rule} ${at.line} ${message}; ${fix ?? ''}`);
}

/**
 * Starts a file as `serve` does, and sends one request; returns the error message if it does not start. It listens on free ports; with
 * `asItIs` on those of the file, for a file that must be refused because of its ports.
 */
export async function started(
  file: string,
  path = '/loki/api/v1/labels',
  asItIs = false,
): Promise<Asked | string> {
  try {
    // Flags of plugins and built-in flags share one list on the command line.
    new FlagIndex([...builtInDefinitions(), ...(await siteDefinitions(file))]);
    if (asItIs) return await refusal(file);
    return await withProxyFile(
      file,
      async ({ url, log }) => {
        const response = await fetch(`${url}${path}`);
        const text = await response.text();
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return { status: response.status, text, records: log.records, metrics };
      },
      { flags: { 'server.register-instrumentation': 'true' } },
    );
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function refusal(file: string): Promise<Asked | string> {
  const { pipeline, findings } = await loadPipeline(file, { flags: new Map(), env: {} });
  if (pipeline === undefined) return findings.map(({ message }) => message).join('\n');
  const proxy = await startProxy(pipeline, { logTo: new CapturedLog() });
  await proxy.close();
  return { status: 200, text: '', records: [], metrics: '' };
}
