import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

/** A document named in a text, with the heading if one is given. */
interface Citation {
  readonly path: string;
  readonly anchor: string | undefined;
}

const comment = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
const document = /(?<![\w/.-])(?<path>(?:[\w.-]+\/)*[\w.-]+\.md)(?:#(?<anchor>[\w-]+))?/g;
/** Words for documents that the reader of a comment does not have. */
const foreign = /(?<!audit-)\bspec(?:-gaps)?\b|\bsection \d|\(design: /i;
/** A code block, with the path of the file it shows. */
const fence = /^(?:`[^`\n]+`:\n\n)?(?<marks>```+).*$[\s\S]*?^\k<marks>$/gm;
/** A path in backquotes: from a folder of the package, or a source in the same folder as the document. */
const named = /`(?<path>(?:core|plugins|test|docs|schemas|pipelines|examples)\/[\w./-]*|[\w/-]+\.ts)`/g;
/** File name endings that documents leave out. */
const endings = ['', '.ts', '.test.ts'];
const link = /\]\((?<path>[^)#\s:]*)(?:#(?<anchor>[^)\s]+))?\)/g;

/** Checks the citations and links in the files of a folder. */
export class Citations {
  readonly #root: string;
  readonly #headings = new Map<string, ReadonlySet<string>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Problems of the citations in the comments of a source; `file` is its path in the package. */
  ofComments(file: string, text: string): readonly string[] {
    return [...text.matchAll(comment)].flatMap(([words]) => {
      const cited = [...words.matchAll(document)].map(citationOf);
      const paper = foreign.exec(words)?.[0];
      const wrong = cited.filter(
        (citation) => !['', dirname(file)].some((from) => this.#leads(from, citation)),
      );
      return [
        ...wrong.map((citation) => `${file}: ${shown(citation)} leads nowhere`),
        ...(paper === undefined ? [] : [`${file}: "${paper}" names what is not in the repository`]),
      ];
    });
  }

  /** Broken links and paths in a document; links to other hosts and code blocks are skipped. */
  ofDocument(file: string, text: string): readonly string[] {
    const prose = text.replace(fence, '');
    const links = [...prose.matchAll(link)].map(citationOf).filter((citation) => {
      const target = citation.path === '' ? { ...citation, path: basename(file) } : citation;
      return !this.#leads(dirname(file), target);
    });
    const paths = [...prose.matchAll(named)].map(citationOf).filter(({ path }) => {
      const places = ['', dirname(file)].flatMap((from) =>
        endings.map((ending) => join(from, path + ending)),
      );
      return !places.some((place) => existsSync(join(this.#root, place)));
    });
    return [...links, ...paths].map((citation) => `${file}: ${shown(citation)} leads nowhere`);
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

/** Paths of the files below the given folders of the package that have one of the endings. */
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

/** The anchors of a document's headings as GitHub generates them: lower case, no punctuation, hyphens for spaces. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.matchAll(/^#+ (?<words>.+)$/gm);
  return new Set([...headings].map(({ groups }) => anchorOf(groups?.['words'] ?? '')));
}

export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
