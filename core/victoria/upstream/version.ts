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
