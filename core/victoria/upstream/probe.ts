import type { BackendCall, BackendClient } from './client.js';
import {
  isOlder,
  parseVersion,
  shownVersion,
  type Version,
  versionOfBuildInfo,
  versionOfMetrics,
} from './version.js';

export interface VersionRule {
  readonly minVersion: string;
  readonly allowUnsupported: boolean;
}

/** The result of a probe; `problem` is the reason why the backend should not be used. */
export interface VersionFinding {
  readonly version: Version | undefined;
  readonly problem: string | undefined;
}

/** The metrics of one process of the backend. */
export interface MetricsPage {
  /** The name of the process in logs. */
  readonly process: string;
  /** Rejects if the page cannot be read. */
  readonly read: (signal: AbortSignal) => Promise<string>;
}

/** The state of the backend, polled outside of any request. */
export interface Probed {
  readonly client: BackendClient;
  readonly headers: Headers;
  /** Metrics pages of the backend itself, or of each process of a cluster. */
  readonly pages: readonly MetricsPage[];
}

type Headers = Readonly<Record<string, string>>;

/**
 * Requests the health and version of the backend, and of the processes of a cluster; an unknown version counts as the newest
 * (docs/protocol/victorialogs.md#backend-endpoints).
 */
export async function checkVersion(
  { client, headers, pages }: Probed,
  rule: VersionRule,
  signal: AbortSignal,
): Promise<VersionFinding> {
  const unhealthy = await healthProblem(client, headers, signal);
  if (unhealthy !== undefined) return { version: undefined, problem: unhealthy };
  const buildInfo = await orNothing(read(client, '/select/buildinfo', headers, signal));
  const versions = await Promise.all(
    pages.map(async (page) => versionOfMetrics(await orNothing(page.read(signal)))),
  );
  const [first] = versions;
  const version = versionOfBuildInfo(buildInfo) ?? first;
  const least = parseVersion(rule.minVersion);
  if (least === undefined || rule.allowUnsupported) return { version, problem: undefined };
  const tooOld = (who: string, found: Version | undefined): string | undefined =>
    found !== undefined && isOlder(found, least)
      ? `${who} is ${shownVersion(found)}; -backend-min-version is ${rule.minVersion}`
      : undefined;
  const ofPages = pages.map(({ process }, index) => tooOld(`the backend at ${process}`, versions[index]));
  return { version, problem: tooOld('the backend', version) ?? ofPages.find((each) => each !== undefined) };
}

/** The reason why the backend is unhealthy; undefined if it is healthy. */
export async function healthProblem(
  client: BackendClient,
  headers: Headers,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await read(client, '/health', headers, signal);
    return undefined;
  } catch (error) {
    return `the health check of the backend (/health) failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function orNothing(reading: Promise<string>): Promise<string> {
  try {
    return await reading;
  } catch {
    return '';
  }
}

async function read(
  client: BackendClient,
  path: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<string> {
  const answer = await client.call(probeCall({ path, headers, signal }));
  return answer.text();
}

/** A call outside of any request. */
export function probeCall(
  call: Pick<BackendCall, 'path' | 'headers' | 'signal'> & Partial<Pick<BackendCall, 'form'>>,
): BackendCall {
  return { method: 'GET', form: [], statusRule: 'keep', isJson: false, isProbe: true, ...call };
}
