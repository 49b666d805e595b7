import type { DemoData } from './demo-data.js';
import type { Http } from './http.js';
import type { Stage } from './stage.js';

/** What a feature has at hand: a proxy over the demo's data, and the data to know what must come back. */
export interface Scene {
  /** Speaks with the proxy in its default settings. */
  readonly http: Http;
  readonly data: DemoData;
  /** Tenant with the data, as X-Scope-OrgID. */
  readonly orgId: string;
  /** Where lines may be written to and deleted, apart from the data. */
  readonly stage: Stage;
}

/** Something that people do with a client. */
export interface Feature {
  readonly client: string;
  readonly feature: string;
  /** Heading of the description of the clients that it comes from. */
  readonly section: string;
  /** Every kind of request that it sends, such as `GET query_range`; a run that sends others, or fewer, fails. */
  readonly sends: readonly string[];
  /** Why it cannot be played on a Loki as it comes: what differs by design, or what its configuration would have to say. */
  readonly notOnLoki?: string;
  /** Sends what the client sends and reads the answers as it reads them; throws where the client would fail. */
  readonly run: (scene: Scene) => Promise<void>;
}

/** Makes the features of one client. */
export function featuresOf(
  client: string,
  section: string,
  features: readonly Omit<Feature, 'client' | 'section'>[],
): readonly Feature[] {
  return features.map((feature) => ({ client, section, ...feature }));
}
