import { parseListenAddress } from '../../../base/listen-address.js';
import { withoutCredentials } from '../../../base/secrets.js';
import type { FileUse } from '../../options/index.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import { allOptions, enabledOwners, isFilled, optionsOf, type FoundOption } from '../option-lookup.js';
import type { Complaint, EnvironmentRule, Rule } from '../rule.js';
import { listeners } from './listeners.js';

/** R060: files that the process reads exist. */
const readablePaths: EnvironmentRule = {
  id: 'R060',
  title: 'an input file is readable',
  tier: 'environment',
  severity: 'error',
  docs: 'A file that an option names (certificates, tenant map, custom patterns, secrets) must exist and be readable by the user who runs the check.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const option of pathOptions(draft, 'read')) {
      const reason = await surroundings.canRead(option.value);
      if (reason === undefined) continue;
      complaints.push({
        at: option.at,
        message: `${option.name} "${option.value}" cannot be read: ${reason}`,
      });
    }
    return complaints;
  },
};

/** R061: files that the process writes can be written. */
const writablePaths: EnvironmentRule = {
  id: 'R061',
  title: 'an output file is writable',
  tier: 'environment',
  severity: 'error',
  refusesStart: true,
  docs: 'A file that an option tells the proxy to write (disk cache, snapshots) must be writable or, if it does not exist yet, its directory. Otherwise `serve` refuses to start.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const option of pathOptions(draft, 'write')) {
      const reason = await surroundings.canWrite(option.value);
      if (reason === undefined) continue;
      complaints.push({
        at: option.at,
        message: `${option.name} "${option.value}" cannot be written: ${reason}`,
      });
    }
    return complaints;
  },
};

/** R062: the backend answers. */
const reachableBackend: EnvironmentRule = {
  id: 'R062',
  title: 'a backend is healthy',
  tier: 'environment',
  severity: 'error',
  docs: 'Every backend must answer `GET /health` with 2xx within 5 seconds. A backend that the same file starts (`embedded-backend`) is not checked.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const option of probedOptions(draft)) {
      const { at, definition, name, value } = option;
      if (isStartedHere(draft, value)) continue;
      const reason = await surroundings.canReach(`${value.replace(/\/+$/, '')}${definition.probe ?? ''}`);
      if (reason === undefined) continue;
      complaints.push({ at, message: `${name} "${withoutCredentials(value)}" is not healthy: ${reason}` });
    }
    return complaints;
  },
};

export const machineRules: readonly Rule[] = [readablePaths, writablePaths, reachableBackend];

type FilledOption = FoundOption & { readonly value: string };

/** Every option of the pipeline that names a file for this use. Secret files count as read. */
function pathOptions(draft: PipelineDraft, use: FileUse): readonly FilledOption[] {
  return allOptions(draft)
    .filter(({ definition }) => definition.shares === undefined)
    .filter(({ definition }) => (definition.fileOf === undefined ? definition.fileUse : 'read') === use)
    .filter(isFilled);
}

/** Addresses of services that must be reachable: those in use. */
function probedOptions(draft: PipelineDraft): readonly FilledOption[] {
  return enabledOwners(draft).flatMap((owner) => {
    const options = optionsOf(owner);
    return options
      .filter(({ definition: { probe, usedWith } }) => {
        const isUsed = usedWith === undefined || owner.resolved.options[usedWith] === true;
        return probe !== undefined && isUsed;
      })
      .filter(isFilled);
  });
}

/** True if a service in the file listens at the URL. */
function isStartedHere(draft: PipelineDraft, url: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const isHere = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  const wanted = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  const own = listeners(draft).filter(({ option }) => option.definition.owner.startsWith('plugin '));
  return isHere && own.some(({ text }) => parseListenAddress(text)?.port === wanted);
}
