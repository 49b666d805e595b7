import type { DemoData } from './demo-data.js';
import type { Http } from './http.js';
import type { Stage } from './stage.js';

/** The context of a feature: a proxy over the demo data, and the data to compute expected results from. */
export interface Scene {
  /** Sends requests to the proxy with its default settings. */
  readonly http: Http;
  readonly data: DemoData;
  /** Tenant with the data, as X-Scope-OrgID. */
  readonly orgId: string;
  /** A place to write and delete lines, separate from the data. */
  readonly stage: Stage;
}

/** A use case of a client. */
export interface Feature {
  readonly client: string;
  readonly feature: string;
  /** The heading in the client description that it comes from. */
  readonly section: string;
  /** Every kind of request that it sends, such as `GET query_range`; a run that sends others, or fewer, fails. */
  readonly sends: readonly string[];
  /** The reason why it cannot run against a default Loki: a difference by design, or required configuration. */
  readonly notOnLoki?: string;
  /** Sends the requests of the client and reads the responses like it does; throws where the client would fail. */
  readonly run: (scene: Scene) => Promise<void>;
}

/** Creates the features of one client. */
export function featuresOf(
  client: string,
  section: string,
  features: readonly Omit<Feature, 'client' | 'section'>[],
): readonly Feature[] {
  return features.map((feature) => ({ client, section, ...feature }));
}
