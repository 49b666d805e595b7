import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** One request of the corpus. */
export interface Case {
  readonly id: string;
  readonly family: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly ordered?: boolean;
  /** False for cases that are kept for information and not counted. */
  readonly exact?: boolean;
}

/** An answer: Loki's of the corpus, or the proxy's. `body` is parsed JSON, or text. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

export interface GoldenCase {
  readonly request: Case;
  readonly golden: Answered;
}

/** A set of cases below test/data: two of the conformance corpus, and one of the logs of all doors. */
export type CaseSet = 'http' | 'otel' | 'doors';

const files: Readonly<Record<CaseSet, { readonly cases: string; readonly goldens: string }>> = {
  http: {
    cases: 'test/data/conformance/http-cases.jsonl',
    goldens: 'test/data/conformance/http-golden.jsonl.gz',
  },
  otel: {
    cases: 'test/data/conformance/otel-cases.jsonl',
    goldens: 'test/data/conformance/otel-golden.jsonl.gz',
  },
  doors: { cases: 'test/data/doors/cases.jsonl.gz', goldens: 'test/data/doors/golden.jsonl.gz' },
};

/** The cases of a set with Loki's answers, in the order of the file. */
export function readCases(set: CaseSet): readonly GoldenCase[] {
  let cases = read.get(set);
  if (cases === undefined) read.set(set, (cases = casesOf(set)));
  return cases;
}

/** Reading them takes longer than most tests of a few cases. */
const read = new Map<CaseSet, readonly GoldenCase[]>();

function casesOf(set: CaseSet): readonly GoldenCase[] {
  const goldens = new Map<string, Answered>();
  for (const line of readLines(files[set].goldens)) {
    // The corpus is data of this repository; its form is told in its README.
    const { id, status, body } = JSON.parse(line) as Answered & { readonly id: string };
    goldens.set(id, { status, body });
  }
  return readLines(files[set].cases).map((line) => {
    const request = JSON.parse(line) as Case;
    const golden = goldens.get(request.id);
    if (golden === undefined) throw new Error(`no recorded answer for ${request.id}`);
    return { request, golden };
  });
}

/** The lines of a text file, packed or not. */
export function readLines(file: string): readonly string[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').filter((line) => line !== '');
}
