import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { packageRoot } from '../../core/kernel/options/index.js';
import { sourcesIn } from '../setup/sources.js';
import { filesIn } from './citations.js';
import { oldWordsIn } from './words.js';

/**
 * Words that begin a clause where a noun belongs: comments say "Dependencies of an executor", not "What an executor can use". Questions
 * may begin with them.
 */
const clause = /^(?:What|Whether|Who|Whoever|Whose|How|Which|Those)\b(?![^.]*\?)/;
const commentBegin = /\/[/*]+[\s*]*/;
/** The beginning of such a comment, or of similar text: sources without a match need not be parsed. */
const likeClause = new RegExp(commentBegin.source + clause.source.slice(1));

interface Comment {
  readonly line: number;
  readonly text: string;
}

/** The comments of a source; consecutive line comments count as one. */
function commentsOf(file: string, source: string): readonly Comment[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
  const found = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    // Text between JSX tags is not a comment.
    if (!ts.isJsxText(node)) for (const range of ranges) found.set(range.pos, range);
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  const comments: Comment[] = [];
  let lastLine = -1;
  for (const { pos, end, kind } of [...found.values()].sort((a, b) => a.pos - b.pos)) {
    const line = tree.getLineAndCharacterOfPosition(pos).line + 1;
    const isLineComment = kind === ts.SyntaxKind.SingleLineCommentTrivia;
    const isContinued = isLineComment && lastLine === line - 1;
    lastLine = isLineComment ? line : -1;
    if (!isContinued) comments.push({ line, text: source.slice(pos, end).replace(commentBegin, '') });
  }
  return comments;
}

function clausesOf(file: string, source: string): readonly string[] {
  if (!likeClause.test(source)) return [];
  return commentsOf(file, source).flatMap(({ line, text }) =>
    clause.test(text) ? [`${file}:${line} ${text.split('\n', 1)[0] ?? ''}`] : [],
  );
}

const root = packageRoot();

test('comments begin with a noun or a sentence, not with a clause in place of a noun', (t) => {
  // Generated files repeat the descriptions of schemas, which are not comments.
  const files = sourcesIn(root, ['core', 'plugins', 'test', 'examples']).filter((file) =>
    /(?<!\.gen)\.tsx?$/.test(file),
  );
  t.true(files.length > 500);
  t.deepEqual(
    files.flatMap((file) => clausesOf(file, readFileSync(join(root, file), 'utf8'))),
    [],
  );
});

test('clauses in place of nouns are found in every kind of comment', (t) => {
  const source = [
    '/** What an executor can use. */',
    'const a = 1; // Whether it is one.',
    '// This continues:',
    '// How it is meant.',
    "const b = 'x'; /* Those of b. */",
    '/**',
    ' * Which one to take.',
    ' */',
    'const c = `// What no comment is`; // How often? Once.',
  ].join('\n');
  t.deepEqual(
    clausesOf('a.ts', source).map((found) => found.replace(/ .*/, '')),
    ['a.ts:1', 'a.ts:2', 'a.ts:5', 'a.ts:6'],
  );
});

/** Fully generated pages; their words come from schemas, errors and tests. */
const generated = /^(?:For [^.]+\. )?Generated (?:by|from) /m;

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The descriptions in a schema, one per line. */
function descriptionsOf(schema: string): string {
  return Array.from(schema.matchAll(/"(?:description|x-deprecated)": "(.*)"/g), ([, text]) => text).join(
    '\n',
  );
}

test('docs say what they mean in words that operators know', (t) => {
  const documents = [
    ...filesIn(root, ['docs', 'plugins', 'core', 'test', 'examples'], ['.md']),
    ...['README.md', 'CONTRIBUTING.md'],
  ].filter((file) => !generated.test(read(file)));
  t.true(documents.length > 80, String(documents.length));
  // Released versions stay as they are.
  const [, unreleased = ''] =
    /^(# Changelog[\s\S]*?^## [\s\S]*?)(?=^## |(?![\s\S]))/m.exec(read('CHANGELOG.md')) ?? [];
  t.true(unreleased.length > 0);
  t.deepEqual(
    [...documents.flatMap((file) => oldWordsIn(file, read(file))), ...oldWordsIn('CHANGELOG.md', unreleased)],
    [],
  );
});

test('descriptions of options say what they mean in words that operators know', (t) => {
  const schemas = filesIn(root, ['schemas'], ['.json']);
  t.true(schemas.length > 20);
  t.deepEqual(
    schemas.flatMap((file) => oldWordsIn(file, descriptionsOf(read(file)))),
    [],
  );
});

test('an old word is found with its line and the words to use, over the end of a line too', (t) => {
  const text =
    '# Mend\n\nThe cache begins anew, `anew`.\n\n```\nwhoever\n```\nA failure is\ntold. It takes up to a minute.\n';
  t.deepEqual(oldWordsIn('a.md', text), [
    'a.md:8 "is told": write is reported, logged, listed or distinguished',
    'a.md:3 "anew": write again, starts empty',
  ]);
});
