import { findOption, isFilled } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R044: replicas that share a cache have a shared secret. */
export const peerToken: TextRule = {
  id: 'R044',
  title: 'a shared cache needs a shared secret',
  tier: 'meaning',
  severity: 'error',
  docs: 'The cache that replicas share is served on the main listener. It needs `peerAuthToken`, the same for all of them, unless `peerInsecureIpAllowlist` keeps to the addresses of known peers.',
  check(draft) {
    const discovery = findOption(draft, 'peer-discovery');
    const token = findOption(draft, 'peer-auth-token');
    const insecure = findOption(draft, 'peer-insecure-ip-allowlist');
    if (!isFilled(discovery) || isFilled(token) || insecure?.value === true) return [];
    const peers = findOption(draft, 'peer-static')?.value;
    const shown = Array.isArray(peers) ? peers.map(String).join(',') : '';
    const message = `peer cache is configured (discovery=${discovery.value}, peers=${shown}) but --peer-auth-token is empty`;
    const fix =
      'set --peer-auth-token to a shared secret, or pass --peer-insecure-ip-allowlist=true to keep the legacy IP-only behavior';
    return [{ at: discovery.at, message, fix }];
  },
};
