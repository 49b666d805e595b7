interface OldWord {
  readonly found: RegExp;
  readonly use: string;
}

/** Words of an older style, each with the standard terms that operators search for. */
const oldWords: readonly OldWord[] = [
  { found: /\b(?:is|are|was|were|be|been) told\b/gi, use: 'is reported, logged, listed or distinguished' },
  { found: /\bwhoever\b/gi, use: 'anyone who, a client that' },
  { found: /\bmend(?:s|ed|ing)?\b/gi, use: 'fix' },
  { found: /\bin vain\b/gi, use: 'without success' },
  { found: /\bwant of\b/gi, use: 'lack of, out of' },
  { found: /\bon the wire\b/gi, use: 'compressed, in the protocol' },
  { found: /\bnear by\b/gi, use: 'in memory, on disk, cached' },
  { found: /\banew\b/gi, use: 'again, starts empty' },
  { found: /\bas ever\b/gi, use: 'as before' },
  { found: /\bin place of\b/gi, use: 'instead of' },
  { found: /\blook-ups?\b/gi, use: 'lookup' },
  { found: /\b(?:of late|lately)\b/gi, use: 'recently' },
  { found: /\bbut for\b/gi, use: 'except' },
  { found: /\bthe very\b/gi, use: 'the same' },
  { found: /\basked of\b/gi, use: 'sent to, queried in' },
  { found: /\bcarr(?:y|ies) the code\b/gi, use: 'contributors' },
  { found: /\bwithstands?\b/gi, use: 'reliability, survives' },
  { found: /\bspoils?\b/gi, use: 'breaks' },
  { found: /\bknows not\b/gi, use: 'does not know' },
  { found: /\bfor good\b/gi, use: 'permanently' },
  { found: /\bbreaks? your word\b/gi, use: 'violate the contract' },
  { found: /\btak(?:es?|en) up\b(?! to\b)/gi, use: 'applies, reads' },
];

/** Parts of a document that are not prose: code, headings (links depend on them), and generated tables. */
const notProse = [
  /^(?<marks>```+).*$[\s\S]*?^\k<marks>$/gm,
  /<!-- [^>]*(?:begin|generated)[^>]*-->[\s\S]*?<!-- [^>]*end[^>]*-->/g,
  /^(?: {4}|#).*$/gm,
  /`[^`\n]*`/g,
  /\]\([^)\s]*\)/g,
];

/** Old words in a text, each with its line and the words to use; code, headings and links do not count. */
export function oldWordsIn(file: string, text: string): readonly string[] {
  const prose = notProse.reduce((rest, part) => rest.replace(part, blank), text).replaceAll('\n', ' ');
  return oldWords.flatMap(({ found, use }) =>
    Array.from(prose.matchAll(found), ({ 0: word, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line} "${word}": write ${use}`;
    }),
  );
}

/** Replaces a text with spaces and keeps its line breaks, so positions after it do not change. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
