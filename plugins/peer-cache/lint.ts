import type { LintRule } from '../../core/plugin/index.js';

/** Replicas that share a cache must have a shared secret, and only one way of sharing. */
export const lint: readonly LintRule[] = [
  {
    id: 'R044',
    title: 'a shared cache needs a shared secret',
    severity: 'error',
    docs: 'The cache that replicas share is served on the main listener. It needs `peerAuthToken`, the same for all of them, unless `peerInsecureIpAllowlist` keeps to the addresses of known peers.',
    check(file) {
      const discovery = file.own('peerDiscovery');
      const isOpen = file.own('peerInsecureIpAllowlist').value === true;
      if (discovery.text === '' || file.own('peerAuthToken').text !== '' || isOpen) return [];
      const peers = file.own('peerStatic').value;
      const shown = Array.isArray(peers) ? peers.map(String).join(',') : '';
      const message = `peer cache is configured (discovery=${discovery.text}, peers=${shown}) but --peer-auth-token is empty`;
      const fix =
        'set --peer-auth-token to a shared secret, or pass --peer-insecure-ip-allowlist=true to keep the legacy IP-only behavior';
      return [{ at: discovery.at, message, fix }];
    },
  },
  {
    id: 'R058',
    title: 'replicas share answers with each other or in a store, not both',
    severity: 'error',
    docs: 'With `sharedCacheUrl` the replicas keep what they share in Valkey or Redis, in place of asking each other. Both would ask twice for each answer that nobody has.',
    check(file) {
      const store = file.own('sharedCacheUrl');
      const discovery = file.own('peerDiscovery').text;
      if (store.text === '' || discovery === '') return [];
      const message = `the shared cache and peers (discovery=${discovery}) are both configured`;
      return [{ at: store.at, message, fix: 'leave out -shared-cache-url or -peer-discovery' }];
    },
  },
];
