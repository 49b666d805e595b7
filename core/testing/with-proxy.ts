import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProxy, type RunningProxy, type StartOptions } from '../program/start-proxy.js';
import { loadPipeline } from '../kernel/pipeline/index.js';
import { placeText } from '../kernel/pipeline/located.js';
import type { Pipeline } from '../kernel/pipeline/types.js';
import { CapturedLog } from '../tools/pipeline-test/captured-log.js';

export interface ProxyUnderTest {
  readonly proxy: RunningProxy;
  /** URL of the main listener. */
  readonly url: string;
  readonly log: CapturedLog;
}

/** Settings for starting a pipeline file in a test. */
export interface FileSettings extends StartOptions {
  /** Flags by name without dashes, as on the command line. By default listeners use free loopback ports. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Starts a proxy, passes it to a test and always stops it afterwards. */
export async function withPipeline<Result>(
  pipeline: Pipeline,
  use: (under: ProxyUnderTest) => Promise<Result>,
  options: StartOptions = {},
): Promise<Result> {
  const log = new CapturedLog();
  const proxy = await startProxy(pipeline, { logTo: log, ...options });
  try {
    return await use({ proxy, url: proxy.urls.main, log });
  } finally {
    await proxy.close();
  }
}

/** Starts a proxy from a pipeline file, as `ref-proxy serve` does; site plugins are resolved from the file's folder. */
export async function withProxyFile<Result>(
  file: string,
  use: (under: ProxyUnderTest) => Promise<Result>,
  settings: FileSettings = {},
): Promise<Result> {
  const flags = new Map(
    Object.entries({ listen: '127.0.0.1:0', 'admin-listen': '127.0.0.1:0', ...settings.flags }),
  );
  // Records are captured as JSON.
  flags.set('log-format', 'json');
  const { pipeline, findings } = await loadPipeline(file, {
    flags,
    env: settings.env ?? {},
    readsSecrets: true,
  });
  if (pipeline === undefined) {
    const texts = findings.map(({ at, message }) => `${placeText(at)}: ${message}`);
    throw new Error(`cannot start the pipeline:\n${texts.join('\n')}`);
  }
  return withPipeline(pipeline, use, settings);
}

/** Starts a proxy from the text of a pipeline file. */
export async function withProxy<Result>(
  pipelineYaml: string,
  use: (under: ProxyUnderTest) => Promise<Result>,
  settings: FileSettings = {},
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    const file = join(folder, 'pipeline.yaml');
    await writeFile(file, pipelineYaml);
    return await withProxyFile(file, use, settings);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
