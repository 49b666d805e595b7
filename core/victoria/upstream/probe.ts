import type { BackendClient } from './client.js';
import { isOlder, parseVersion, versionOfBuildInfo, versionOfMetrics, type Version } from './version.js';

export interface VersionRule {
  readonly minVersion: string;
  readonly allowUnsupported: boolean;
}

/** The result of a probe; `problem` says why the backend should not be used. */
export interface VersionFinding {
  readonly version: Version | undefined;
  readonly problem: string | undefined;
}

/**
 * Asks the backend for its health and version; an unknown version counts as the newest (docs/protocol/victorialogs.md#backend-endpoints).
 */
export async function checkVersion(
  client: BackendClient,
  rule: VersionRule,
  signal: AbortSignal,
): Promise<VersionFinding> {
  const unhealthy = await healthProblem(client, signal);
  if (unhealthy !== undefined) return { version: undefined, problem: unhealthy };
  const version =
    versionOfBuildInfo((await get(client, '/select/buildinfo', signal)) ?? '') ??
    versionOfMetrics((await get(client, '/metrics', signal)) ?? '');
  const least = parseVersion(rule.minVersion);
  if (version === undefined || least === undefined || rule.allowUnsupported || !isOlder(version, least)) {
    return { version, problem: undefined };
  }
  const shown = `v${version.major}.${version.minor}.${version.patch}`;
  return { version, problem: `the backend is ${shown}; -backend-min-version is ${rule.minVersion}` };
}

/** Why the backend is unhealthy; undefined when it is healthy. */
export async function healthProblem(client: BackendClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    await read(client, '/health', signal);
    return undefined;
  } catch (error) {
    return `the backend's /health failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function get(client: BackendClient, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await read(client, path, signal);
  } catch {
    return undefined;
  }
}

async function read(client: BackendClient, path: string, signal: AbortSignal): Promise<string> {
  const answer = await client.call({
    path,
    method: 'GET',
    form: [],
    headers: {},
    signal,
    statusRule: 'keep',
    isJson: false,
    isProbe: true,
  });
  return answer.text();
}
