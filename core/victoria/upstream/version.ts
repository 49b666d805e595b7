import { memberOf, parsedJson } from '../../base/json-member.js';

/** A version as `vMAJOR.MINOR.PATCH`. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Parses a version; undefined for builds without a tag. */
export function parseVersion(text: string): Version | undefined {
  const match = /(?:^|[^0-9.])v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3] ?? 0) };
}

/** True when `version` is older than `least`. */
export function isOlder(version: Version, least: Version): boolean {
  if (version.major !== least.major) return version.major < least.major;
  if (version.minor !== least.minor) return version.minor < least.minor;
  return version.patch < least.patch;
}

/** The version in the answer of /select/buildinfo. */
export function versionOfBuildInfo(body: string): Version | undefined {
  const version = memberOf(memberOf(parsedJson(body), 'data'), 'version');
  return typeof version === 'string' ? parseVersion(version) : undefined;
}

/** The version in the text of /metrics: `short_version`, or else `version`, of `vm_app_version`. */
export function versionOfMetrics(body: string): Version | undefined {
  const line = body.split('\n').find((each) => each.startsWith('vm_app_version{'));
  if (line === undefined) return undefined;
  const short = /short_version="([^"]*)"/.exec(line)?.[1] ?? '';
  return parseVersion(short) ?? parseVersion(/[{,]version="([^"]*)"/.exec(line)?.[1] ?? '');
}

/** A version as text. */
export function shownVersion({ major, minor, patch }: Version): string {
  return `v${major}.${minor}.${patch}`;
}

/** The backend's version as detected at startup, with the names of `drilldown-limits` (docs/protocol/answers.md). */
export interface ReportedVersion {
  readonly backend_version_semver: string;
  readonly backend_version_source: 'backend' | 'unknown';
  readonly backend_capability_profile: string;
}

const unknown: ReportedVersion = {
  backend_version_semver: '',
  backend_version_source: 'unknown',
  backend_capability_profile: 'vl-unknown',
};

/** Filled by the plugin `backend` after detection. */
export function backendVersion(host: {
  readonly shared: <Value>(name: string, make: () => Value) => Value;
}): { current: ReportedVersion } {
  return host.shared('backend version', () => ({ current: unknown }));
}

/** Profiles correspond to the versions in which VictoriaLogs gained features that pushdown uses. */
export function toldVersion(version: Version | undefined): ReportedVersion {
  if (version === undefined) return unknown;
  const profile = profiles.find(([minor]) => !isOlder(version, { major: 1, minor, patch: 0 }));
  return {
    backend_version_semver: shownVersion(version),
    backend_version_source: 'backend',
    backend_capability_profile: profile?.[1] ?? 'vl-old',
  };
}

const profiles = [
  [50, 'vl-v1.50-plus'],
  [49, 'vl-v1.49-plus'],
  [30, 'vl-v1.30-plus'],
] as const;
