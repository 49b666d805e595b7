import { parseAllDocuments, type Document } from 'yaml';
import { locateNodes } from './locate-nodes.js';
import type { LocatedNode } from './located.js';
import type { SourceFile } from './source.js';
import { Locator, type YamlProblem } from './yaml-problem.js';

export interface YamlResult {
  /** Undefined when the text is not YAML or has no value. */
  readonly root?: LocatedNode;
  readonly problems: readonly YamlProblem[];
}

/** Parses the text of a pipeline. Never throws; errors are returned with their positions. */
export function readYaml(source: SourceFile, env: Readonly<Record<string, string | undefined>>): YamlResult {
  const locator = new Locator(source.name, source.text);
  const parsed = parse(source.text);
  if (parsed === 'too-deep') {
    return {
      problems: [{ kind: 'syntax', at: locator.at(0, 1), message: 'is nested too deeply to be a pipeline' }],
    };
  }
  const [document, second] = parsed;
  const syntax = parsed.flatMap((each) => syntaxProblems(each, locator));
  if (syntax.length > 0) return { problems: syntax };
  if (document?.contents === null || document?.contents === undefined) {
    const at = locator.at(0, 1);
    return {
      problems: [{ kind: 'documents', at, message: 'holds no pipeline: it is empty or has only comments' }],
    };
  }
  const { root, problems } = locateNodes(document, document.contents, locator, env);
  if (second === undefined) return { root, problems };
  const at = locator.at(second.range[0], second.range[0] + 3);
  const several: YamlProblem = {
    kind: 'documents',
    at: second.contents === null ? at : locator.at(second.contents.range[0], second.contents.range[1]),
    message: `holds ${parsed.length} YAML documents; a pipeline is one`,
    fix: 'put each pipeline in a file of its own',
  };
  return { root, problems: [...problems, several] };
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
