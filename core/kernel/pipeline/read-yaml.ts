import { type CST, type Document, isAlias, parseAllDocuments, visit, type YAMLError } from 'yaml';
import { locateNodes } from './locate-nodes.js';
import { type LocatedNode, toPlain, valueOf, Locator, type YamlProblem } from './located.js';
import { type ShapeProblem, shapeProblems } from './shape.js';
import { type SourceFile, readSource } from './source.js';
import {
  type CORE_SECTIONS,
  type Environment,
  resolveOptions,
  type OptionSchema,
  type OptionSources,
  type ResolvedOptions,
} from '../options/index.js';

interface YamlResult {
  /** Undefined if the text is not one YAML document with a value. Parts with a wrong structure, which `shape` reports, are left out. */
  readonly root?: LocatedNode;
  readonly problems: readonly YamlProblem[];
  /** Problems with the structure of the file. */
  readonly shape: readonly ShapeProblem[];
}

/** Parses the text of a pipeline. Never throws; errors are returned with their positions. */
export function readYaml(source: SourceFile, env: Environment): YamlResult {
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
  // The parser is lost after the first error: later errors may be consequences of it.
  const syntax = parsed.map((each) => firstProblem(each, locator)).find((found) => found !== undefined);
  if (syntax !== undefined) return withoutRoot(syntax);
  if (document?.contents === null || document?.contents === undefined) {
    const at = locator.at(0, 1);
    return withoutRoot({
      kind: 'documents',
      at,
      message: 'has no pipeline: it is empty or has only comments',
    });
  }
  if (second === undefined) {
    const { root, problems } = locateNodes(document, document.contents, locator, env);
    return { root, problems, shape: shapeProblems(root) };
  }
  const at = locator.at(second.range[0], second.range[0] + 3);
  const several: YamlProblem = {
    kind: 'documents',
    at: second.contents === null ? at : locator.at(second.contents.range[0], second.contents.range[1]),
    message: `has ${parsed.length} YAML documents; a pipeline file has one`,
    fix: 'put each pipeline in a separate file',
  };
  return withoutRoot(several);
}

function withoutRoot(...problems: readonly YamlProblem[]): YamlResult {
  return { problems, shape: [] };
}

function parse(text: string): readonly Document.Parsed[] | 'too-deep' {
  if (isTooDeep(text)) return 'too-deep';
  const parsed = parseAllDocuments(text, {
    prettyErrors: false,
    keepSourceTokens: true,
    uniqueKeys: false, // checked in locateNodes, which can report both positions
    schema: 'core',
    logLevel: 'silent',
  });
  return Array.isArray(parsed) ? parsed : [];
}

const maxBrackets = 100;
const maxIndent = 400;

/**
 * True if nesting is too deep for the recursive parser: a few thousand levels overflow its stack or even crash the process. Counts
 * brackets, ignoring quotes and comments, and block nesting by indentation: real pipelines are far below either limit.
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

function firstProblem(document: Document.Parsed, locator: Locator): YamlProblem | undefined {
  const [error] = document.errors;
  const [warning] = document.warnings;
  if (error !== undefined) return syntaxProblem(document, error, locator);
  if (warning === undefined) return undefined;
  return { kind: 'feature', at: locator.at(...warning.pos), message: sentence(warning.message) };
}

function syntaxProblem(document: Document.Parsed, error: YAMLError, locator: Locator): YamlProblem {
  const [start, end] = error.pos;
  const message = sentence(error.message);
  const { at, isOpen } = beginningOf(document, error) ?? { at: start, isOpen: false };
  if (isOpen) return { kind: 'syntax', at: locator.at(at, at + 1), message, fix: 'close it where it ends' };
  return { kind: 'syntax', at: locator.at(at, Math.max(end, at + 1)), message, ...syntaxFix(error) };
}

/**
 * The start of the construct that an error refers to, if the parser only reports the point it reached: an unclosed quote or bracket, or the
 * last line of a text that was meant to be several keys.
 */
function beginningOf(
  document: Document.Parsed,
  { pos: [offset], code }: YAMLError,
): { readonly at: number; readonly isOpen: boolean } | undefined {
  let found: { readonly at: number; readonly isOpen: boolean } | undefined;
  visit(document, {
    Node(_, node) {
      const [at = offset, end = offset] = node.range ?? [];
      const token = isAlias(node) ? undefined : node.srcToken;
      if (token?.type === 'flow-collection' && at < offset && !isClosed(token)) found = { at, isOpen: true };
      if (token === undefined || !('source' in token)) return;
      const quote = /^["']/.exec(token.source)?.[0];
      if (quote !== undefined && at < offset && end >= offset) found = { at, isOpen: true };
      const lastLine = token.source.lastIndexOf('\n');
      if (at === offset && lastLine !== -1 && code === 'BLOCK_AS_IMPLICIT_KEY')
        found = { at: at + lastLine + 1, isOpen: false };
    },
  });
  return found;
}

function isClosed({ end }: CST.FlowCollection): boolean {
  return end.some(({ type }) => type === 'flow-seq-end' || type === 'flow-map-end');
}

function sentence(message: string): string {
  const line = message.split('\n', 1)[0] ?? message;
  return line.replace(/[.:]$/, '');
}

/** Advice for common mistakes, by the parser's error code; none for others. */
function syntaxFix({ code, message }: YAMLError): { readonly fix?: string } {
  if (code === 'TAB_AS_INDENT' || /\btabs?\b/i.test(message)) return { fix: 'indent with spaces' };
  if (message.includes('flow')) {
    return {
      fix: 'put a value with { } [ ] or ${...} in quotes inside [ ] and { }, and a single value without brackets',
    };
  }
  if (/[Kk]eys? /.test(message) && code !== 'BLOCK_AS_IMPLICIT_KEY')
    return { fix: 'write "key: value", with a space after the colon' };
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /ested/.test(message))
    return {
      fix: 'quote a value that contains ": ", and indent each key by as many spaces as its neighbours',
    };
  const isLayout = code === 'BAD_INDENT' || code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MISSING_CHAR';
  if (isLayout)
    return {
      fix: 'indent it by as many spaces as its neighbours, and put a space after a dash and a colon',
    };
  return {};
}

/** Resolves one section of a pipeline file without loading any plugin. Throws an Error with the reason if the file cannot be read. */
export async function readSection(
  file: string,
  name: (typeof CORE_SECTIONS)[number],
  schema: OptionSchema,
  sources: OptionSources,
): Promise<ResolvedOptions> {
  const source = await readSource(file);
  if ('reason' in source) throw new Error(`${file} ${source.reason}`);
  const { root, problems } = readYaml(source, sources.env);
  if (root === undefined || problems.length > 0)
    throw new Error(`${file} ${problems[0]?.message ?? 'is not a pipeline'}`);
  const node = valueOf(root, name);
  return resolveOptions(schema, node === undefined ? undefined : toPlain(node), sources);
}
