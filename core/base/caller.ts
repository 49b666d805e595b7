/** Who asks, as far as HTTP tells: everything a stage may know of the connection and its headers. */
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
}

/** The tenant a request was resolved to (docs/protocol/tenants.md#finding-the-tenant). */
export interface Tenant {
  /** The client's id, as it appears in logs, cache keys and `__tenant_id__`. */
  readonly id: string;
  readonly accountId: number;
  readonly projectId: number;
  /** Label-based tenancy: the backend stream field that must equal `id`. */
  readonly streamField: string | undefined;
  /** The ids whose limits the request is held to: all of a multi-tenant header. Without it, the tenant's own. */
  readonly limitIds?: readonly string[];
  /** What is older is not read, whatever a window reaches back to. */
  readonly oldestNs?: bigint;
  /** True for a tenant that no data belongs to: the backend is not asked. */
  readonly hasNoData?: true;
  /** Whether `X-Scope-OrgID` goes on to the backend (`-forward-tenant-header`). */
  readonly forwardHeader: boolean;
}
