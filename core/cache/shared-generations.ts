import { randomBytes } from 'node:crypto';

/** What is purged at once: everything, or what keys hold that begin with a tenant. */
export type PurgeArea = { readonly tenant?: string };

/** What a text of the store says about its area. */
export type Lesson =
  /** Nothing new. */
  | 'same'
  /** Another one than before, of which nobody is to be told: the store had lost the one before. */
  | 'other'
  /** There is none. */
  | 'missing'
  /** Somebody has purged the area. */
  | 'purged'
  /** One that a purge had ended: the store has forgotten that purge. */
  | 'undone';

/** So many tenants are followed up, those asked for last. */
const maxTenants = 10_000;
const maxEnded = 20_000;
/** How far the clocks of replicas may differ. */
const skewMs = 60_000;
const pattern = /^(\d{1,15})\.[0-9a-f]{24}$/;
const everything = '';

/**
 * What has been purged, as texts that lie in the store and that all replicas read with each value: one for everything and one for each
 * tenant, at random, so that one that was lost never comes back. A purge puts another one in its place; a value counts as long as both
 * are those under which it was written. A text begins with when its area was purged, in Unix milliseconds, and 0 for never.
 */
export class SharedGenerations {
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  /** By area, the text that the store had last. */
  readonly #known = new Map<string, string>();
  /** Texts that others have replaced. */
  readonly #ended = new Set<string>();
  /** Areas that this process has purged without the store having it yet, with a number for each purge. */
  readonly #pending = new Map<string, number>();
  #purges = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  /** What values of a tenant are written and read under now; undefined while it is not known. */
  of(tenant: string): string | undefined {
    if (this.#pending.has(everything) || this.#pending.has(areaOf({ tenant }))) return undefined;
    const [all, own] = [this.#known.get(everything), this.#known.get(areaOf({ tenant }))];
    return all === undefined || own === undefined ? undefined : `${all} ${own}`;
  }

  /** Whether a purge of everything waits, or one of this tenant. */
  isPending(tenant: string): boolean {
    return this.#pending.has(everything) || this.#pending.has(areaOf({ tenant }));
  }

  get pending(): readonly PurgeArea[] {
    return [...this.#pending.keys()].map(purgeAreaOf);
  }

  /** Areas whose texts are followed up. */
  get followed(): readonly PurgeArea[] {
    return [{}, ...[...this.#known.keys()].filter((area) => area !== everything).map(purgeAreaOf)];
  }

  /** Takes what the store has for an area. */
  learn(area: PurgeArea, text: string | undefined): Lesson {
    const name = areaOf(area);
    // It is about to have another one.
    if (this.#pending.has(name)) return 'same';
    const before = this.#known.get(name);
    if (text === undefined || !pattern.test(text)) {
      this.#known.delete(name);
      this.#end(before);
      return 'missing';
    }
    if (this.#ended.has(text)) {
      this.#known.delete(name);
      return 'undone';
    }
    this.#know(name, text);
    if (before === text) return 'same';
    this.#end(before);
    return this.#isPurgeSince(before, text) ? 'purged' : 'other';
  }

  /** A purge by this process: nothing of the area counts until the store has it. */
  purge(area: PurgeArea): void {
    let name = areaOf(area);
    this.#purges += 1;
    if (this.#pending.size >= maxTenants) {
      this.#pending.clear();
      name = everything;
    }
    this.#pending.set(name, this.#purges);
    this.#end(this.#known.get(name));
    this.#known.delete(name);
  }

  /** For a purge that waits: the text to write, and what to call with the one before when it is written. */
  begin(area: PurgeArea): { readonly text: string; readonly done: (before: string | undefined) => void } {
    const name = areaOf(area);
    const purge = this.#pending.get(name);
    const text = newText(this.#nowMs());
    const done = (before: string | undefined): void => {
      this.#end(before);
      if (this.#pending.get(name) !== purge) {
        this.#end(text);
        return;
      }
      this.#pending.delete(name);
      this.#know(name, text);
    };
    return { text, done };
  }

  /** A text for an area that has none. */
  first(): string {
    return newText(0);
  }

  #isPurgeSince(before: string | undefined, text: string): boolean {
    const atMs = purgedMs(text);
    if (before === undefined) return atMs > this.#startedMs - skewMs;
    return atMs > 0 && atMs !== purgedMs(before);
  }

  #know(name: string, text: string): void {
    this.#known.delete(name);
    this.#known.set(name, text);
    if (this.#known.size <= maxTenants + 1) return;
    for (const oldest of this.#known.keys()) {
      if (oldest === everything) continue;
      this.#known.delete(oldest);
      return;
    }
  }

  #end(text: string | undefined): void {
    if (text === undefined) return;
    this.#ended.add(text);
    if (this.#ended.size <= maxEnded) return;
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest);
      return;
    }
  }
}

/** Tenants are not empty in here, so that none stands for everything. */
function areaOf({ tenant }: PurgeArea): string {
  return tenant === undefined ? everything : `tenant ${tenant}`;
}

function purgeAreaOf(name: string): PurgeArea {
  return name === everything ? {} : { tenant: name.slice('tenant '.length) };
}

function newText(atMs: number): string {
  return `${Math.floor(atMs)}.${randomBytes(12).toString('hex')}`;
}

function purgedMs(text: string): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}
