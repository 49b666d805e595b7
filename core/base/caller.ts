/** The caller as HTTP describes it: everything a stage may know about the connection and its headers. */
export interface Caller {
  /** HTTP method in upper case; background work asks as GET. */
  readonly method: string;
  /** Remote address, never taken from X-Forwarded-For. */
  readonly address: string;
  /** Request headers, names in lower case, repeated ones joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** `X-Scope-OrgID` as sent; undefined when the header is missing or empty. */
  readonly orgId: string | undefined;
  /** True when the encoding-flags header asks for `categorize-labels` (3-tuples). */
  readonly categorizeLabels: boolean;
  /** True when `X-Query-Tags` names Grafana's Logs Drilldown as the source. */
  readonly isDrilldown: boolean;
  /**
   * Set for background work: it runs only while permits are free, never takes the last one, and is refused where it would have to queue.
   */
  readonly isBackground?: boolean;
  /** Set for background work that must finish: its backend calls wait up to ten seconds while calls of client requests run. */
  readonly yields?: boolean;
}

/** The tenant a request was resolved to (docs/protocol/tenants.md#finding-the-tenant). */
export interface Tenant {
  /** The client's id, as it appears in logs, cache keys and `__tenant_id__`. */
  readonly id: string;
  readonly accountId: number;
  readonly projectId: number;
  /** Label-based tenancy: the backend stream field that must equal `id`. */
  readonly streamField: string | undefined;
  /** The ids whose limits apply: all of a multi-tenant header. Without it, the tenant's own. */
  readonly limitIds?: readonly string[];
  /** Older data is not read, however far the requested window reaches back. */
  readonly oldestNs?: bigint;
  /** True for a tenant without data: the backend is not asked. */
  readonly hasNoData?: true;
  /** The field mapping (`Naming.mapping`) that its data are shown under. A reload changes it for later requests. */
  readonly mapping?: string;
  /** True if `X-Scope-OrgID` is forwarded to the backend (`-forward-tenant-header`). */
  readonly forwardHeader: boolean;
}
