import type { Finding } from '../../kernel/pipeline/index.js';
import { readSource } from '../../kernel/pipeline/source.js';
import { unreadable } from '../../kernel/check/index.js';
import { unmet } from './expectations.js';
import { showCall } from './fake-victorialogs.js';
import { fault, readTests, type TestCase, type TestFile } from './read-file.js';
import { UnfitPipeline, withRunningPipeline, type RunningPipeline } from './run-pipeline.js';

export interface TestResult {
  readonly file: string;
  readonly name: string;
  /** Empty if the test has passed. */
  readonly faults: readonly Finding[];
  readonly durationMs: number;
}

/** The result of a file: its tests, or the findings that prevent them from running. */
export interface FileResult {
  readonly file: string;
  readonly faults: readonly Finding[];
  readonly tests: readonly TestResult[];
}

/** Maximum number of faults of one test; more are not helpful. */
const maxFaults = 20;

/** Runs the tests of a file, or the chosen ones, one after another. */
export async function runTestFile(name: string, isChosen: (test: string) => boolean): Promise<FileResult> {
  const source = await readSource(name);
  if ('reason' in source) return { file: name, faults: [unreadable(name, source.reason)], tests: [] };
  const read = readTests(source);
  if ('findings' in read) return { file: name, faults: read.findings, tests: [] };
  const tests: TestResult[] = [];
  for (const test of read.file.tests) {
    if (!isChosen(test.name)) continue;
    const started = performance.now();
    const faults = await runTest(read.file, test);
    const durationMs = performance.now() - started;
    tests.push({ file: name, name: test.name, faults: faults.slice(0, maxFaults), durationMs });
  }
  return { file: name, faults: [], tests };
}

async function runTest({ pipeline }: TestFile, test: TestCase): Promise<readonly Finding[]> {
  try {
    return await withRunningPipeline(pipeline, test.run, (running) => runSteps(test, running));
  } catch (error) {
    // A finding that prevents the pipeline from starting is reported at its own position.
    if (error instanceof UnfitPipeline) return error.findings.filter(({ severity }) => severity === 'error');
    return [fault(test.at, error instanceof Error ? error.message : String(error))];
  }
}

async function runSteps(test: TestCase, running: RunningPipeline): Promise<readonly Finding[]> {
  const faults: Finding[] = [];
  for (const { afterMs, request, expected } of test.steps) {
    running.advance(afterMs);
    faults.push(...unmet(expected, await running.ask(request)));
  }
  const [first] = running.unanswered;
  if (first !== undefined)
    faults.push(fault(test.at, `the test has no answer for ${showCall(first)}`, 'add it to "backend"'));
  for (const index of running.unused())
    faults.push(fault(test.backendAt[index] ?? test.at, 'no call used this answer', 'remove it'));
  return faults;
}
