export const peerMetrics = {
  peer_cache_peers: { type: 'gauge', help: 'Other replicas that share the cache.' },
  peer_cache_cluster_members: { type: 'gauge', help: 'Replicas that share the cache, with this one.' },
  peer_cache_hits_total: { type: 'counter', help: 'Answers taken from other replicas.' },
  peer_cache_misses_total: {
    type: 'counter',
    help: 'Answers that the other replicas asked did not have in time.',
  },
  peer_cache_errors_total: { type: 'counter', help: 'Calls to other replicas that failed.' },
  peer_cache_failures_total: {
    type: 'counter',
    help: 'The same by reason: breaker_open, busy (too many calls in flight), request_build, timeout, transport, status_<n>, body_read, decode, damaged (no value of that key), encode.',
    labels: ['reason'],
  },
  peer_cache_late_total: {
    type: 'counter',
    help: 'Requests that went on because another replica took too long; its answer is still kept when it comes.',
  },
  peer_cache_joins_total: {
    type: 'counter',
    help: 'Requests that waited for an answer that another replica was making.',
  },
  peer_cache_joins_saved_total: {
    type: 'counter',
    help: 'Backend work saved: those of them that got the answer.',
  },
  peer_cache_write_through_pushes_total: {
    type: 'counter',
    help: 'Answers brought to the replica that owns them.',
  },
  peer_cache_write_through_errors_total: {
    type: 'counter',
    help: 'Answers that could not be brought to the replica that owns them, or were not for want of room.',
  },
  peer_cache_write_through_drops_total: {
    type: 'counter',
    help: 'Answers that were not brought to the replica that owns them because too many waited (entries, bytes).',
    labels: ['reason'],
  },
  peer_cache_write_through_waiting_bytes: {
    type: 'gauge',
    help: 'Bytes of answers on their way to the replicas that own them.',
  },
  peer_cache_discovery_errors_total: {
    type: 'counter',
    help: 'Times that the members of the fleet could not be found out, so that the last ones stayed.',
  },
  peer_cache_hot_index_requests_total: {
    type: 'counter',
    help: 'Times that other replicas were asked what they are asked for most.',
  },
  peer_cache_hot_index_errors_total: { type: 'counter', help: 'Those of them that failed.' },
  peer_cache_read_ahead_prefetches_total: {
    type: 'counter',
    help: 'Answers taken from other replicas before they were asked for here.',
  },
  peer_cache_read_ahead_prefetch_bytes_total: { type: 'counter', help: 'Bytes of those answers.' },
  peer_cache_read_ahead_budget_drops_total: {
    type: 'counter',
    help: 'Answers that were not read ahead as the keys or bytes of the round were used up, or that were larger than had been told.',
  },
  peer_cache_read_ahead_tenant_skips_total: {
    type: 'counter',
    help: 'Answers that came after those of other tenants, or not at all, as their tenant had its share of the round.',
  },
  peer_cache_received_total: { type: 'counter', help: 'Answers that other replicas brought to this one.' },
} as const;
