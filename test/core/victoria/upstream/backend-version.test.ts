import test from 'ava';
import { parseVersion, toldVersion } from '../../../../core/victoria/upstream/version.js';

const versions: readonly (readonly [version: string, profile: string])[] = [
  ['v2.0.1', 'vl-v1.50-plus'],
  ['v1.52.0', 'vl-v1.50-plus'],
  ['v1.49.3', 'vl-v1.49-plus'],
  ['v1.45.0', 'vl-v1.30-plus'],
  ['v1.29.9', 'vl-old'],
];
for (const [version, profile] of versions)
  test(`a backend of ${version} has the profile ${profile}`, (t) => {
    t.deepEqual(toldVersion(parseVersion(version)), {
      backend_version_semver: version,
      backend_version_source: 'backend',
      backend_capability_profile: profile,
    });
  });
