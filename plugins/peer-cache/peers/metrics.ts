import { counters, gauges } from '../../../core/base/meters.js';

export const peerMetrics = {
  ...counters({
    peer_cache_hits_total: 'Peer cache hits: answers from other replicas.',
    peer_cache_misses_total: 'Peer cache misses: answers that the replicas asked did not have in time.',
    peer_cache_errors_total: 'Failed calls to other replicas.',
    peer_cache_late_total:
      'Requests that continued without another replica because it was too slow; its answer is still cached when it arrives.',
    peer_cache_joins_total: 'Requests that waited for an answer that another replica was fetching.',
    peer_cache_joins_saved_total:
      'Backend calls saved: requests that got the answer that another replica was fetching.',
    peer_cache_write_through_pushes_total: 'Answers pushed to the owner of their cache key.',
    peer_cache_write_through_errors_total:
      'Failed pushes of answers to the owner of their cache key, including those dropped because the queue was full.',
    peer_cache_discovery_errors_total:
      'Failed peer discoveries, after which the last known members stay in use.',
    peer_cache_hot_index_requests_total: 'Requests to other replicas for their hot cache keys.',
    peer_cache_hot_index_errors_total: 'Failed requests to other replicas for their hot cache keys.',
    peer_cache_read_ahead_prefetches_total: 'Answers prefetched from other replicas.',
    peer_cache_read_ahead_prefetch_bytes_total: 'Bytes of answers prefetched from other replicas.',
    peer_cache_read_ahead_budget_drops_total:
      'Answers not prefetched because the round reached its limit of keys or bytes, or because they were larger than reported.',
    peer_cache_read_ahead_tenant_skips_total:
      'Answers prefetched later, or not at all, because their tenant had used its share of the round.',
    peer_cache_received_total: 'Answers that other replicas pushed to this one.',
  }),
  ...gauges({
    peer_cache_peers: 'Number of peers, without this replica.',
    peer_cache_cluster_members: 'Number of replicas in the peer cache, including this one.',
    peer_cache_write_through_waiting_bytes:
      'Bytes of answers that are being pushed to the owners of their cache keys.',
  }),
  peer_cache_failures_total: {
    type: 'counter',
    help: 'Failed calls to other replicas, by reason: breaker_open, busy (too many calls in flight), request_build, timeout, transport, status_<n>, body_read, decode, damaged (not a value for this key), encode.',
    labels: ['reason'],
  },
  peer_cache_write_through_drops_total: {
    type: 'counter',
    help: 'Answers not pushed to the owner of their cache key because the queue was full, by limit (entries, bytes).',
    labels: ['reason'],
  },
} as const;
