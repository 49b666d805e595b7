import type { Logger } from '../base/logger.js';
import { packageJson } from '../kernel/options/index.js';

/** Warns of a Node.js version that `engines` in package.json does not include: it has vulnerabilities, or is untested. */
export function warnOfNode(log: Logger, version = process.version): void {
  const supported = packageJson().engines.node;
  if (isWithin(version, supported)) return;
  log.warn(
    'this version of Node.js is not supported: it lacks security fixes or is not tested; use a supported version',
    {
      'process.runtime.version': version,
      'process.runtime.supported': supported,
    },
  );
}

/** True if a version such as `v22.22.2` is in a range such as `>=20.20.2 <21 || >=22.22.2`. */
function isWithin(version: string, range: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  return range.split('||').some((part) => {
    const [from = '', below = ''] = part.trim().split(' ');
    const [leastMajor = 0, leastMinor = 0, leastPatch = 0] = numbersOf(from);
    const [end = Infinity] = numbersOf(below);
    if (major >= end || major < leastMajor) return false;
    if (major > leastMajor || minor > leastMinor) return true;
    return minor === leastMinor && patch >= leastPatch;
  });
}

function numbersOf(text: string): readonly number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}
