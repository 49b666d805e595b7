import { isOlder, type Version } from './version.js';
import { shownVersion } from './probe.js';

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
