import type { LintRule } from '../../core/plugin/index.js';

/** Replicas that share a cache must have a shared secret, and only one way of sharing. */
export const lint: readonly LintRule[] = [
  {
    id: 'R044',
    title: 'a peer cache requires a shared secret',
    severity: 'error',
    docs: 'Replicas serve the peer cache on the main listener. It requires the same `peerAuthToken` on all replicas, unless `peerInsecureIpAllowlist` restricts it to the addresses of known peers.',
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
    title: 'replicas share answers through peers or a shared cache, not both',
    severity: 'error',
    docs: 'With `sharedCacheUrl`, replicas share answers in Valkey or Redis instead of asking each other. With both, every cache miss would cost two lookups.',
    check(file) {
      const store = file.own('sharedCacheUrl');
      const discovery = file.own('peerDiscovery').text;
      if (store.text === '' || discovery === '') return [];
      const message = `the shared cache and peers (discovery=${discovery}) are both configured`;
      return [{ at: store.at, message, fix: 'remove -shared-cache-url or -peer-discovery' }];
    },
  },
];
