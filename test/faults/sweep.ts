import { Random } from '../watch/random.js';
import { bodyWays } from './body-ways-table.js';
import { framingWays } from './framing-ways-table.js';
import { typeWays } from './json-ways.js';
import { shortPath } from '../clients/http.js';
import { questions, type Question } from './questions.js';
import { DamagingRelay, type SeenCall } from './relay.js';
import { tryDamage, truthOf, type Offence, type Truth } from './trial.js';
import type { Way } from './way.js';

export const allWays: readonly Way[] = [...framingWays, ...bodyWays, ...typeWays];

export interface Report {
  readonly damaged: number;
  readonly offences: readonly Offence[];
}

/** Name prefixes; empty for all. */
export interface Filter {
  readonly question: string;
  readonly way: string;
}

/** A part of the sweep, so that several processes can share it: every `of`-th kind of call, starting at `number`; all by default. */
export interface Share {
  readonly number: number;
  readonly of: number;
}

type Print = (text: string) => void;

const typesPerCall = 10;

/** Damages each kind of call of each endpoint in each way. */
export async function sweep(
  backendUrl: string,
  { seed, share = { number: 1, of: 1 } }: { readonly seed: number; readonly share?: Share },
  filter: Filter,
  print: Print,
): Promise<Report> {
  const ways = waysOf(filter);
  return withRelay(backendUrl, async (relay, guard) => {
    const report = new Tally(print);
    const targets = await targetsOf(relay, filter);
    print(`${targets.length} kinds of calls, ${ways.length} ways`);
    for (const [place, { truth, call }] of targets.entries()) {
      if (place % share.of !== share.number - 1) continue;
      report.progress(place, targets.length);
      for (const [index, way] of ways.entries()) {
        const times = way.name.startsWith('a value of another type') ? typesPerCall : 1;
        for (let time = 0; time < times; time += 1) {
          const random = Random.of(seed, place * 10_000 + index * typesPerCall + time);
          const about = { question: truth.question.name, call, way: way.name };
          await report.add(guard, () => tryDamage(relay, truth, call, way, random), about);
        }
      }
    }
    return report;
  });
}

interface Target {
  readonly truth: Truth;
  readonly call: number;
}

/** For each kind of call of an endpoint, the question that causes it with the fewest calls. */
async function targetsOf(relay: DamagingRelay, filter: Filter): Promise<readonly Target[]> {
  const byKind = new Map<string, Target>();
  for (const question of questions().filter(({ name }) => name.startsWith(filter.question))) {
    const truth = await truthOf(relay, question);
    for (const [call, seen] of truth.calls.entries()) {
      const kind = kindOf(question, seen);
      const known = byKind.get(kind);
      if (known === undefined || known.truth.calls.length > truth.calls.length)
        byKind.set(kind, { truth, call });
    }
  }
  return [...byKind.values()];
}

/** Endpoint, number of tenants and the backend query, without differences in names and values only. */
function kindOf({ path, headers }: Question, seen: SeenCall): string {
  const pipes = (new URLSearchParams(seen.form).get('query') ?? '').matchAll(/\| (\w+)/g);
  const tenants = (headers['X-Scope-OrgID'] ?? '').split('|').length;
  return `${shortPath(path)} ${tenants} ${seen.path} ${[...pipes].map(([, pipe]) => pipe).join()}`;
}

/** Damages a number of calls at random. */
export async function wander(
  backendUrl: string,
  { seed, calls }: { readonly seed: number; readonly calls: number },
  filter: Filter,
  print: Print,
): Promise<Report> {
  const ways = waysOf(filter);
  const some = questions().filter(({ name }) => name.startsWith(filter.question));
  return withRelay(backendUrl, async (relay, guard) => {
    const report = new Tally(print);
    const truths = new Map<string, Truth>();
    for (let step = 0; report.damaged < calls && step < calls * 10; step += 1) {
      const random = Random.of(seed, step);
      const question = random.pick(some);
      const truth = truths.get(question.name) ?? (await truthOf(relay, question));
      truths.set(question.name, truth);
      if (truth.calls.length === 0) continue;
      const call = random.below(truth.calls.length);
      const way = random.pick(ways);
      await report.add(guard, () => tryDamage(relay, truth, call, way, random), {
        question: question.name,
        call,
        way: way.name,
      });
    }
    return report;
  });
}

function waysOf({ way }: Filter): readonly Way[] {
  return allWays.filter(({ name }) => name.startsWith(way));
}

/** Uncaught errors: each of them would have ended the program. */
class Guard {
  #caught: unknown[] = [];

  take(): readonly unknown[] {
    const caught = this.#caught;
    this.#caught = [];
    return caught;
  }

  readonly note = (error: unknown): void => {
    this.#caught.push(error);
  };
}

async function withRelay(
  backendUrl: string,
  use: (relay: DamagingRelay, guard: Guard) => Promise<Tally>,
): Promise<Report> {
  const relay = await DamagingRelay.open(backendUrl);
  const guard = new Guard();
  process.on('uncaughtException', guard.note).on('unhandledRejection', guard.note);
  try {
    return await use(relay, guard);
  } finally {
    process.off('uncaughtException', guard.note).off('unhandledRejection', guard.note);
    relay.close();
  }
}

class Tally implements Report {
  damaged = 0;
  readonly offences: Offence[] = [];
  readonly #print: Print;
  #toldAt = performance.now();
  readonly #kinds = new Map<string, number>();

  constructor(print: Print) {
    this.#print = print;
  }

  /** Prints the progress of a long run, at most once a minute. */
  progress(done: number, all: number): void {
    if (performance.now() - this.#toldAt < 60_000) return;
    this.#toldAt = performance.now();
    this.#print(`  ${done} of ${all}, ${this.offences.length} offences`);
  }

  async add(
    guard: Guard,
    trial: () => ReturnType<typeof tryDamage>,
    about: Omit<Offence, 'what'>,
  ): Promise<void> {
    const { taken, offences } = await trial();
    if (taken) this.damaged += 1;
    const deaths = guard.take().map((error) => ({ ...about, what: `it would have died: ${String(error)}` }));
    for (const offence of [...offences, ...deaths]) {
      this.offences.push(offence);
      this.#tell(offence);
    }
  }

  /** Prints the first offence of each way and kind; later ones are mostly the same. */
  #tell({ question, call, way, what }: Offence): void {
    const kind = `${way}: ${what.split(':', 1)[0] ?? ''}`;
    const count = (this.#kinds.get(kind) ?? 0) + 1;
    this.#kinds.set(kind, count);
    if (count === 1) this.#print(`${question}, call ${call}, ${way}: ${what}`);
  }
}
