import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A document that a text names, with the heading in it where one is named. */
interface Citation {
  readonly path: string;
  readonly anchor: string | undefined;
}

const comment = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
const document = /(?<![\w/.-])(?<path>(?:[\w.-]+\/)*[\w.-]+\.md)(?:#(?<anchor>[\w-]+))?/g;
/** Words for papers that the writer of a comment has on the desk and its reader has not. */
const foreign = /\bspec(?:-gaps)?\b|\bsection \d/i;
const link = /\]\((?<path>[^)#\s:]*)(?:#(?<anchor>[^)\s]+))?\)/g;

/** Follows citations and links from the files of a folder. */
export class Citations {
  readonly #root: string;
  readonly #headings = new Map<string, ReadonlySet<string>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** What is wrong with the citations in the comments of a source; `file` is its path in the package. */
  ofComments(file: string, text: string): readonly string[] {
    return [...text.matchAll(comment)].flatMap(([words]) => {
      const cited = [...words.matchAll(document)].map(citationOf);
      const named = foreign.exec(words)?.[0];
      const wrong = cited.filter(
        (citation) => !['', dirname(file)].some((from) => this.#leads(from, citation)),
      );
      return [
        ...wrong.map((citation) => `${file}: ${shown(citation)} leads nowhere`),
        ...(named === undefined ? [] : [`${file}: "${named}" names what is not in the repository`]),
      ];
    });
  }

  /** The links of a document that lead nowhere; addresses of other hosts are left alone. */
  ofDocument(file: string, text: string): readonly string[] {
    return [...text.matchAll(link)].map(citationOf).flatMap((citation) => {
      const target = citation.path === '' ? { ...citation, path: file.split('/').at(-1) ?? '' } : citation;
      return this.#leads(dirname(file), target) ? [] : [`${file}: ${shown(citation)} leads nowhere`];
    });
  }

  #leads(from: string, { path, anchor }: Citation): boolean {
    const target = join(this.#root, normalize(join(from, path)));
    if (!existsSync(target)) return false;
    return anchor === undefined || this.#headingsOf(target).has(anchor);
  }

  #headingsOf(target: string): ReadonlySet<string> {
    const known = this.#headings.get(target) ?? anchorsOf(readFileSync(target, 'utf8'));
    this.#headings.set(target, known);
    return known;
  }
}

/** The files below some folders of the package whose names end as given, by their paths in it. */
export function filesIn(root: string, folders: readonly string[], endings: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => endings.some((ending) => name.endsWith(ending)) && !name.includes('node_modules'))
      .map((name) => `${folder}/${name}`),
  );
}

function citationOf({ groups }: RegExpMatchArray): Citation {
  return { path: groups?.['path'] ?? '', anchor: groups?.['anchor'] };
}

function shown({ path, anchor }: Citation): string {
  return anchor === undefined ? path : `${path}#${anchor}`;
}

/** The anchors of a document's headings, as GitHub makes them: lower case, without signs, with hyphens for blanks. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.matchAll(/^#+ (?<words>.+)$/gm);
  return new Set(
    [...headings].map(({ groups }) =>
      (groups?.['words'] ?? '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
