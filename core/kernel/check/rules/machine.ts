import { parseListenAddress } from '../../../base/listen-address.js';
import { withoutCredentials } from '../../../base/secrets.js';
import type { FileUse } from '../../options/index.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import { allOptions, enabledOwners, isFilled, optionsOf, type FilledOption } from '../option-lookup.js';
import { environmentRules, type Complaint } from '../rule.js';
import { listeners } from './listeners.js';

export const machineRules = environmentRules([
  {
    id: 'R060',
    title: 'an input file is readable',
    docs: 'A file that an option names (certificates, tenant map, custom patterns, secrets) must exist and be readable by the user who runs the check.',
    check: (draft, { canRead }) =>
      complaintsOf(pathOptions(draft, 'read'), ({ value }) => canRead(value), 'cannot be read'),
  },
  {
    id: 'R061',
    title: 'an output file is writable',
    refusesStart: true,
    docs: 'A file that an option tells the proxy to write (disk cache, snapshots) must be writable or, if it does not exist yet, its directory. Otherwise `serve` refuses to start.',
    check: (draft, { canWrite }) =>
      complaintsOf(pathOptions(draft, 'write'), ({ value }) => canWrite(value), 'cannot be written'),
  },
  {
    id: 'R062',
    title: 'a backend is healthy',
    docs: 'Every backend must answer `GET /health` with 2xx within 5 seconds. A backend that the same file starts (`embedded-backend`) is not checked.',
    check: (draft, { canReach }) =>
      complaintsOf(
        probedOptions(draft).filter(({ value }) => !isStartedHere(draft, value)),
        ({ value, definition: { probe = '' } }) => canReach(value.replace(/\/+$/, '') + probe),
        'is not healthy',
      ),
  },
  {
    id: 'R063',
    title: 'a listen address is free',
    docs: 'Opens every listener of the file for a moment. A running proxy already uses its ports, so run this tier on the target machine before startup.',
    check: (draft, { canListen }) =>
      complaintsOf(listeners(draft), ({ value }) => canListen(value), 'cannot be opened'),
  },
]);

/** The options for which a check of the machine gives a reason, with what is wrong with their values. */
async function complaintsOf(
  options: readonly FilledOption[],
  check: (option: FilledOption) => Promise<string | undefined>,
  fault: string,
): Promise<readonly Complaint[]> {
  const complaints: Complaint[] = [];
  for (const option of options) {
    const reason = await check(option);
    const { at, name, value } = option;
    if (reason !== undefined)
      complaints.push({ at, message: `${name} "${withoutCredentials(value)}" ${fault}: ${reason}` });
  }
  return complaints;
}

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
  const own = listeners(draft).filter(({ definition }) => definition.owner.startsWith('plugin '));
  return isHere && own.some(({ value }) => parseListenAddress(value)?.port === wanted);
}
