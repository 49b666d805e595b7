import { withoutCredentials } from '../../../base/secrets.js';
import { parseListenAddress } from '../../../base/listen-address.js';
import { findOption, isFilled } from '../option-lookup.js';
import { listeners } from '../listeners.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import type { Complaint, EnvironmentRule } from '../rule.js';

const backendFlags = ['backend', 'cold-backend'] as const;

/** R062: the backend answers. */
export const reachableBackend: EnvironmentRule = {
  id: 'R062',
  title: 'a backend answers',
  tier: 'environment',
  severity: 'error',
  docs: '`GET /health` of every backend must be answered with 2xx within 5 seconds. A backend that the same file starts (`embedded-backend`) is not asked.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const flag of backendFlags) {
      const option = findOption(draft, flag);
      if (!isFilled(option) || isStartedHere(draft, option.value)) continue;
      if (flag === 'cold-backend' && findOption(draft, 'cold-enabled')?.value !== true) continue;
      const reason = await surroundings.canReach(`${option.value.replace(/\/+$/, '')}/health`);
      if (reason === undefined) continue;
      const message = `${option.name} "${withoutCredentials(option.value)}" is not healthy: ${reason}`;
      complaints.push({ at: option.at, message });
    }
    return complaints;
  },
};

/** Whether a service of the file listens at the URL. */
function isStartedHere(draft: PipelineDraft, url: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const isHere = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]';
  const wanted = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  const own = listeners(draft).filter(({ option }) => option.definition.owner.startsWith('plugin '));
  return isHere && own.some(({ text }) => parseListenAddress(text)?.port === wanted);
}
