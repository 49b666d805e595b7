import { startProxy, type RunningProxy, type StartOptions } from '../kernel/start-proxy.js';
import type { Pipeline } from '../pipeline/types.js';
import { CapturedLog } from './captured-log.js';

/** A started proxy in the hands of a test. */
export interface ProxyUnderTest {
  readonly proxy: RunningProxy;
  /** Address of the main listener. */
  readonly url: string;
  /** What it logs. */
  readonly log: CapturedLog;
}

/** Starts a proxy, gives it to a test and stops it whatever the test does. */
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
