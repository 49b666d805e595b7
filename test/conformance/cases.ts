import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Answered } from '../../core/comparison/answers.js';

/** One request of the corpus. */
export interface Case {
  readonly id: string;
  readonly family: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly ordered?: boolean;
  /** False for cases kept for information only, which do not count. */
  readonly exact?: boolean;
}

export interface GoldenCase {
  readonly request: Case;
  readonly golden: Answered;
}

/** The files of a set: its requests, and the recorded responses. */
export interface CaseFiles {
  readonly cases: string;
  readonly goldens: string;
}

/** The sets of cases in this repository: three for conformance, and one for the logs of all doors. */
export type CaseSet = 'http' | 'otel' | 'reports' | 'doors';

/** The folder of the recordings that conformance replays. */
export const recordings = 'test/data/conformance';

/** The files of a set in a folder of recordings. */
export function caseFilesOf(set: string, folder = recordings): CaseFiles {
  return {
    cases: packedOrNot(`${folder}/${set}-cases.jsonl`),
    goldens: packedOrNot(`${folder}/${set}-golden.jsonl`),
  };
}

const files: Readonly<Record<CaseSet, CaseFiles>> = {
  http: caseFilesOf('http'),
  otel: caseFilesOf('otel'),
  reports: caseFilesOf('reports'),
  doors: { cases: 'test/data/doors/cases.jsonl.gz', goldens: 'test/data/doors/golden.jsonl.gz' },
};

/** The cases of a set with Loki's answers, in the order of the file. */
export function readCases(set: CaseSet): readonly GoldenCase[] {
  let cases = read.get(set);
  if (cases === undefined) read.set(set, (cases = casesOf(files[set])));
  return cases;
}

/** Caches the cases, because reading them takes longer than most tests of a few cases. */
const read = new Map<CaseSet, readonly GoldenCase[]>();

/** The cases in files, with Loki's answers, in the order of the file. */
export function casesOf({ cases, goldens: answers }: CaseFiles): readonly GoldenCase[] {
  const goldens = new Map<string, Answered>();
  for (const line of readLines(answers)) {
    // Data of this repository, or recordings selected by the caller.
    const { id, status, body } = JSON.parse(line) as Answered & { readonly id: string };
    goldens.set(id, { status, body });
  }
  return readLines(cases).map((line) => {
    const request = JSON.parse(line) as Case;
    const golden = goldens.get(request.id);
    if (golden === undefined) throw new Error(`no recorded answer for ${request.id}`);
    return { request, golden };
  });
}

/** The name of an existing file: with `.gz` if there is none without. */
export function packedOrNot(file: string): string {
  return existsSync(file) ? file : `${file}.gz`;
}

/** The lines of a text file, gzipped or not. */
export function readLines(file: string): readonly string[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').filter((line) => line !== '');
}
