import type { Finding } from '../../kernel/pipeline/index.js';
import { placeText } from '../../kernel/pipeline/located.js';
import type { FileResult, TestResult } from './run-file.js';

/** A report in JUnit's XML format: a suite for each file, with faults as failures. */
export function junitReport(files: readonly FileResult[]): string {
  const suites = files.map(suite);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function suite({ file, faults, tests }: FileResult): string {
  const cases: readonly TestResult[] =
    faults.length === 0 ? tests : [{ file, name: 'the file can be read', faults, durationMs: 0 }, ...tests];
  const failures = cases.filter((test) => test.faults.length > 0).length;
  const seconds = inSeconds(cases.reduce((sum, test) => sum + test.durationMs, 0));
  const attributes = `name="${escapedXml(file)}" tests="${cases.length}" failures="${failures}" errors="0" time="${seconds}"`;
  return `  <testsuite ${attributes}>\n${cases.map(testCase).join('')}  </testsuite>\n`;
}

function testCase({ file, name, faults, durationMs }: TestResult): string {
  const attributes = `name="${escapedXml(name)}" classname="${escapedXml(file)}" time="${inSeconds(durationMs)}"`;
  const [first] = faults;
  if (first === undefined) return `    <testcase ${attributes}/>\n`;
  const text = faults.map(describe).join('\n');
  return `    <testcase ${attributes}>\n      <failure message="${escapedXml(describe(first))}">${escapedXml(text)}</failure>\n    </testcase>\n`;
}

function describe({ at, message, fix }: Finding): string {
  return `${placeText(at)}: ${message}${fix === undefined ? '' : ` (${fix})`}`;
}

function inSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Escapes a text; XML allows no control characters except tab and line breaks. */
export function escapedXml(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
