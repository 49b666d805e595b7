/** Gauges of one process of the backend, or of all combined; undefined if they are not reported. Memory in bytes. */
export interface BackendGauges {
  readonly selects: number | undefined;
  readonly capacity: number | undefined;
  /** Number of queries that waited for a slot there, and of queries that timed out. */
  readonly limitReached: number | undefined;
  readonly limitTimeouts: number | undefined;
  readonly memoryUsed: number | undefined;
  readonly memoryAvailable: number | undefined;
  /** True if it queries storage nodes, like the selector of a cluster. */
  readonly isSelector: boolean;
}

/** Reads the gauges from the text of /metrics (docs/protocol/operation.md#heavy-queries-and-metadata-scans). */
export function parseGauges(text: string): BackendGauges {
  const values = new Map<string, number>();
  for (const [, name = '', value] of text.matchAll(wantedLine))
    values.set(name, (values.get(name) ?? 0) + Number(value));
  const anonymous = values.get('process_resident_memory_anon_bytes');
  const idle = values.get('go_memstats_heap_idle_bytes') ?? 0;
  const released = values.get('go_memstats_heap_released_bytes') ?? 0;
  return {
    selects: values.get('vl_concurrent_select_current'),
    capacity: values.get('vl_concurrent_select_capacity'),
    limitReached: values.get('vl_concurrent_select_limit_reached_total'),
    limitTimeouts: values.get('vl_concurrent_select_limit_timeout_total'),
    memoryUsed: anonymous === undefined ? undefined : Math.max(0, anonymous - (idle - released)),
    memoryAvailable: values.get('vm_available_memory_bytes'),
    isSelector: values.has('vl_select_remote_send_errors_total'),
  };
}

const wanted = [
  'process_resident_memory_anon_bytes',
  'go_memstats_heap_idle_bytes',
  'go_memstats_heap_released_bytes',
  'vl_concurrent_select_current',
  'vl_concurrent_select_capacity',
  'vl_concurrent_select_limit_reached_total',
  'vl_concurrent_select_limit_timeout_total',
  'vl_select_remote_send_errors_total',
  'vm_available_memory_bytes',
];
// Skips about a thousand other lines.
const wantedLine = new RegExp(`^(${wanted.join('|')})(?:\\{[^}\n]*\\})? (\\S+)\\r?$`, 'gm');

/** `silent`: it answered recently, but not the latest request; `unknown`: it never answered, or not for a long time. */
export type GaugesState =
  { readonly kind: 'known'; readonly gauges: BackendGauges } | { readonly kind: 'silent' | 'unknown' };

/** The latest gauges. */
export interface Gauges {
  /** The gauges, at most `maxAgeMs` old if the backend answers. */
  fresh(maxAgeMs: number): Promise<GaugesState>;
  readonly state: GaugesState;
}

/** TTL of gauges without a new answer. */
const forgetMs = 10_000;

/** Caches the latest gauges of a process; concurrent reads share one request. */
export class GaugesReader implements Gauges {
  readonly #read: () => Promise<string>;
  readonly #nowMs: () => number;
  #reading: Promise<void> | undefined;
  #askedAt = -Infinity;
  #answeredAt: number | undefined;
  #gauges: BackendGauges | undefined;
  #isSilent = false;

  /** @param read fetches the text of /metrics, or rejects */
  constructor(read: () => Promise<string>, nowMs: () => number) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  async fresh(maxAgeMs: number): Promise<GaugesState> {
    if (this.#nowMs() - this.#askedAt >= maxAgeMs) this.#reading ??= this.#refresh();
    await this.#reading;
    return this.state;
  }

  get state(): GaugesState {
    const isForgotten = this.#answeredAt === undefined || this.#nowMs() - this.#answeredAt >= forgetMs;
    if (this.#gauges === undefined || isForgotten) return { kind: 'unknown' };
    return this.#isSilent ? { kind: 'silent' } : { kind: 'known', gauges: this.#gauges };
  }

  async #refresh(): Promise<void> {
    this.#askedAt = this.#nowMs();
    try {
      this.#gauges = parseGauges(await this.#read());
      this.#answeredAt = this.#nowMs();
      this.#isSilent = false;
    } catch {
      this.#isSilent = true;
    } finally {
      this.#reading = undefined;
    }
  }
}
