import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { anchorOf, Citations, filesIn } from './citations.js';

interface Answered {
  readonly question: string;
  readonly short: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

const root = packageRoot();
const index = 'docs/README.md';

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The rows of the "First questions" table. */
function questionsOf(text: string): readonly Answered[] {
  const [, section = ''] = /^## First questions\n([\s\S]*?)^## /m.exec(text) ?? [];
  const row =
    /^\| (?<question>[^|]+\?) \| (?<short>[^|]+) \| \[[^\]]+\]\((?<path>[\w./-]+)(?:#(?<anchor>[\w-]+))?\) \|$/gm;
  return Array.from(section.matchAll(row), ({ groups = {} }) => ({
    question: groups['question'] ?? '',
    short: groups['short'] ?? '',
    path: groups['path'] ?? '',
    anchor: groups['anchor'],
  }));
}

/** The section of a page under a heading, or under the title; undefined if the heading does not exist. */
function sectionOf(page: string, anchor: string | undefined): string | undefined {
  const sections = page.split(/^(?=#+ )/m);
  if (anchor === undefined) return sections[0];
  return sections.find((section) => anchorOf(/^#+ (.*)/.exec(section)?.[1] ?? '') === anchor);
}

/** Number of words, without code and link targets. */
function wordsIn(markdown: string): number {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/\]\([^)]*\)/g, ']');
  return prose.split(/[\s|]+/).filter((word) => /[\p{L}\d]/u.test(word)).length;
}

/** Problems of the answers to the first questions. */
function problemsOf(text: string, page: (path: string) => string): readonly string[] {
  return questionsOf(text).flatMap(({ question, short, path, anchor }) => {
    const section = sectionOf(page(path), anchor);
    if (section === undefined) return [`${question} ${path} has no heading #${anchor ?? ''}`];
    const words = wordsIn(section);
    return [
      ...(wordsIn(short) > 30 ? [`${question} the short answer has ${wordsIn(short)} words`] : []),
      ...(words > 100 ? [`${question} the answer has ${words} words`] : []),
      ...(words < 10 ? [`${question} the answer has ${words} words`] : []),
    ];
  });
}

test('ten questions of newcomers are answered on the spot, and in a hundred words behind one link', (t) => {
  const text = read(index);
  t.is(questionsOf(text).length, 10);
  t.deepEqual(
    problemsOf(text, (path) => read(`docs/${path}`)),
    [],
  );
  t.deepEqual(new Citations(root).ofDocument(index, text), []);
});

test('an answer that is missing or long is found', (t) => {
  const row = (link: string): string => `| How long? | Short. | [here](${link}) |\n`;
  const text = `## First questions\n\n${row('a.md#gone')}${row('a.md#long')}${row('a.md')}\n## Guides\n`;
  const page = `# A\n\nFor readers of a page that has an answer in some ten words.\n\n## Long\n\n${'word '.repeat(101)}\n`;
  t.deepEqual(
    problemsOf(text, () => page),
    ['How long? a.md has no heading #gone', 'How long? the answer has 102 words'],
  );
});

test('every page of docs is in the index, or on a page that the index names', (t) => {
  const linked = (file: string): readonly string[] =>
    Array.from(read(file).matchAll(/\]\(([\w./-]+\.md)/g), ([, path = '']) =>
      normalize(join(file, '..', path)),
    );
  const first = linked(index);
  const reached = new Set([
    index,
    ...first,
    ...first.filter((file) => file.endsWith('README.md')).flatMap(linked),
  ]);
  t.deepEqual(
    filesIn(root, ['docs'], ['.md']).filter((file) => !reached.has(file)),
    [],
  );
});

test('every page of docs begins with whom it is for', (t) => {
  const pages = filesIn(root, ['docs'], ['.md']).filter((file) => !/^docs\/runbooks\/(?!README)/.test(file));
  t.true(pages.length > 40, String(pages.length));
  t.deepEqual(
    pages.filter((file) => !/^# .+\n\nFor /.test(read(file))),
    [],
  );
});
