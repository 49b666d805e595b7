import { type Document, parseAllDocuments, type ParsedNode } from 'yaml';
import { locateNodes } from './locate-nodes.js';
import type { LocatedNode } from './located.js';
import { type ShapeProblem, shapeProblems } from './shape.js';
import { type Slip, slipsBefore } from './slips.js';
import type { SourceFile } from './source.js';
import { Locator, type YamlProblem } from './yaml-problem.js';

export interface YamlResult {
  /** Undefined when the text is not one YAML document with a value. Without the slips that `shape` tells. */
  readonly root?: LocatedNode;
  readonly problems: readonly YamlProblem[];
  /** What is wrong with the frame of the file. */
  readonly shape: readonly ShapeProblem[];
}

/** Parses the text of a pipeline. Never throws; errors are returned with their positions. */
export function readYaml(source: SourceFile, env: Readonly<Record<string, string | undefined>>): YamlResult {
  const locator = new Locator(source.name, source.text);
  const parsed = parse(source.text);
  if (parsed === 'too-deep') {
    return withoutRoot({
      kind: 'syntax',
      at: locator.at(0, 1),
      message: 'is nested too deeply to be a pipeline',
    });
  }
  const [document, second] = parsed;
  const syntax = parsed.flatMap((each) => syntaxProblems(each, locator));
  if (syntax.length > 0) return withoutRoot(...causesOf(source, syntax));
  if (document?.contents === null || document?.contents === undefined) {
    const at = locator.at(0, 1);
    return withoutRoot({
      kind: 'documents',
      at,
      message: 'holds no pipeline: it is empty or has only comments',
    });
  }
  if (second === undefined) return readDocument(source, document, document.contents, env);
  const at = locator.at(second.range[0], second.range[0] + 3);
  const several: YamlProblem = {
    kind: 'documents',
    at: second.contents === null ? at : locator.at(second.contents.range[0], second.contents.range[1]),
    message: `holds ${parsed.length} YAML documents; a pipeline is one`,
    fix: 'put each pipeline in a file of its own',
  };
  return withoutRoot(several);
}

function withoutRoot(...problems: readonly YamlProblem[]): YamlResult {
  return { problems, shape: [] };
}

/** A document that is YAML. A slip that spoils its frame, such as a colon left out, is told once, and the rest is read as it was meant. */
function readDocument(
  source: SourceFile,
  document: Document.Parsed,
  contents: ParsedNode,
  env: Readonly<Record<string, string | undefined>>,
): YamlResult {
  const { root, problems } = locateNodes(document, contents, new Locator(source.name, source.text), env);
  const shape = shapeProblems(root);
  const spoilt = shape.find(({ kind }) => kind === 'bad');
  if (spoilt === undefined) return { root, problems, shape };
  const now: Verdict = { kind: 'yaml', frameFaults: shape.length };
  const mended = mend(source.text, now, spoilt.at.line - 1, judge);
  const again = mended === undefined ? undefined : readYaml({ ...source, text: mended.text }, env);
  if (mended === undefined || again?.root === undefined) return { root, problems, shape };
  const { at, message, fix } = slipProblem(source.name, mended.slip);
  const slip: ShapeProblem = {
    kind: 'bad',
    at,
    isTop: false,
    message,
    ...(fix === undefined ? {} : { fix }),
  };
  return { ...again, shape: [slip, ...again.shape] };
}

/** How many slips of one file are told. */
const maxCauses = 8;

/**
 * What is wrong with a text that is no YAML, each thing once and where it was written. The parser loses its way at the first mistake, so
 * only its first complaint counts; what is mended does not show again.
 */
function causesOf(source: SourceFile, syntax: readonly YamlProblem[]): readonly YamlProblem[] {
  const causes: YamlProblem[] = [];
  let { text } = source;
  let problems = syntax;
  for (;;) {
    const [first] = problems;
    if (first === undefined || causes.length === maxCauses) return causes;
    const symptom = first.at.line - 1;
    const mended =
      first.kind === 'syntax' ? mend(text, { kind: 'no-yaml', line: symptom }, symptom, judge) : undefined;
    // Behind a slip that is known, a complaint that nothing explains may be its echo.
    if (mended === undefined) return causes.length === 0 ? [first] : causes;
    causes.push(slipProblem(source.name, mended.slip));
    text = mended.text;
    const again = parse(text);
    const locator = new Locator(source.name, text);
    problems = again === 'too-deep' ? [] : again.flatMap((each) => syntaxProblems(each, locator));
  }
}

/** A slip as a finding tells it. */
function slipProblem(file: string, { line, column, length, message, fix }: Slip): YamlProblem {
  return { kind: 'syntax', at: { file, line: line + 1, column: column + 1, length }, message, fix };
}

function judge(text: string): Verdict {
  const parsed = parse(text);
  if (parsed === 'too-deep') return { kind: 'no-yaml', line: 0 };
  const locator = new Locator('', text);
  const [first] = parsed.flatMap((each) => syntaxProblems(each, locator));
  if (first !== undefined) return { kind: 'no-yaml', line: first.at.line - 1 };
  const [document] = parsed;
  if (document?.contents === null || document?.contents === undefined)
    return { kind: 'yaml', frameFaults: Infinity };
  const { root, problems } = locateNodes(document, document.contents, locator, {});
  const features = problems.filter(({ kind }) => kind === 'feature' || kind === 'duplicate-key');
  return { kind: 'yaml', frameFaults: shapeProblems(root).length + features.length + parsed.length - 1 };
}

function parse(text: string): readonly Document.Parsed[] | 'too-deep' {
  if (isTooDeep(text)) return 'too-deep';
  const parsed = parseAllDocuments(text, {
    prettyErrors: false,
    uniqueKeys: false, // checked in locateNodes, which can name both places
    schema: 'core',
    logLevel: 'silent',
  });
  return Array.isArray(parsed) ? parsed : [];
}

const maxBrackets = 100;
const maxIndent = 400;

/**
 * The parser recurses, and a few thousand levels end not only its stack but the process. Counts brackets without regard to quotes and
 * comments, and block nesting by indent: real pipelines are far below either bound.
 */
function isTooDeep(text: string): boolean {
  let open = 0;
  for (const character of text) {
    if (character === '[' || character === '{') open += 1;
    else if ((character === ']' || character === '}') && open > 0) open -= 1;
    if (open > maxBrackets) return true;
  }
  return text.split('\n').some((line) => (/^(?:\s|[-?:](?=\s))*/.exec(line)?.[0].length ?? 0) > maxIndent);
}

function syntaxProblems(document: Document.Parsed, locator: Locator): YamlProblem[] {
  const seen = new Set<number>();
  const problems: YamlProblem[] = [];
  for (const error of document.errors) {
    const [start, end] = error.pos;
    if (seen.has(start)) continue; // one mistake gives several errors at one place; the first one names it
    seen.add(start);
    const fix = syntaxFix(error.code, error.message);
    problems.push({ kind: 'syntax', at: locator.at(start, end), message: sentence(error.message), ...fix });
  }
  for (const warning of document.warnings) {
    const [start, end] = warning.pos;
    problems.push({ kind: 'feature', at: locator.at(start, end), message: sentence(warning.message) });
  }
  return problems;
}

function sentence(message: string): string {
  const line = message.split('\n', 1)[0] ?? message;
  return line.replace(/[.:]$/, '');
}

function syntaxFix(code: string, message: string): { readonly fix?: string } {
  if (code === 'TAB_AS_INDENT' || /\btabs?\b/i.test(message)) return { fix: 'indent with spaces' };
  if (message.includes('flow')) {
    return { fix: 'put a value with { } [ ] or ${...} in quotes inside [ ] and { }' };
  }
  return {};
}

/** How bad a text is: where the parser fails first, counted in lines from 0, or how many faults its frame has. */
type Verdict =
  | { readonly kind: 'no-yaml'; readonly line: number }
  | { readonly kind: 'yaml'; readonly frameFaults: number };

/** How many ways to mend a text are tried, and how long it may be: each is parsed. */
const maxTries = 80;
const maxLength = 65_536;

/** A slip that explains what is wrong, and the text without it. */
interface Mended {
  readonly slip: Slip;
  readonly text: string;
}

/**
 * The slip of the pen on one line that explains best why a text is no pipeline: the parser's own complaint often stands far from it. Each
 * guess is tried: the text must parse without the slip, or at least further. Undefined when no guess helps.
 */
function mend(
  text: string,
  now: Verdict,
  symptom: number,
  judge: (text: string) => Verdict,
): Mended | undefined {
  if (text.length > maxLength) return undefined;
  const lines = text.split('\n');
  let best: { readonly mended: Mended; readonly verdict: Verdict } | undefined;
  let tries = 0;
  for (const slip of slipsBefore({ line: symptom, parses: now.kind === 'yaml' }, lines)) {
    tries += 1;
    if (tries > maxTries) break;
    const mended = lines.with(slip.line, slip.meant).join('\n');
    const verdict = judge(mended);
    if (!isBetter(verdict, best?.verdict ?? now, slip.line)) continue;
    best = { mended: { slip, text: mended }, verdict };
    if (verdict.kind === 'yaml' && verdict.frameFaults === 0) break;
  }
  return best?.mended;
}

/** Whether a text is better than another; a parser that fails further below helps only when it gets beyond the mended line. */
function isBetter(a: Verdict, b: Verdict, line: number): boolean {
  if (a.kind === 'yaml') return b.kind === 'no-yaml' || a.frameFaults < b.frameFaults;
  return b.kind === 'no-yaml' && a.line > b.line && a.line > line;
}
