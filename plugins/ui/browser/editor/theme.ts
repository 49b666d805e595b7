import { EditorView } from '@codemirror/view';

/**
 * The editor's theme. The editor is in a shadow tree, where the page's policy allows its style sheets; custom properties are inherited
 * there.
 */
export const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', fontSize: '0.875rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', maxHeight: '15rem', overflow: 'auto' },
  '.cm-content': { padding: '11px 0', minHeight: '1.55em', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 14px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--ink-2)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selection)',
  },
  '.cm-content ::selection': { background: 'var(--selection)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    background: 'var(--accent-soft)',
    outline: '1px solid var(--line-2)',
  },
  '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { background: 'none', color: 'var(--bad)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1.5px',
    textUnderlineOffset: '4px',
  },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--bad)' },
  '.cm-tooltip': {
    border: '1px solid var(--line-2)',
    borderRadius: '8px',
    background: 'var(--raised)',
    color: 'var(--ink)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    fontSize: '0.8125rem',
    maxHeight: '17rem',
    maxWidth: 'min(560px, 92vw)',
    minWidth: '220px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    alignItems: 'center',
    minHeight: '32px',
    padding: '2px 12px',
    lineHeight: '1.4',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-completionIcon': { display: 'none' },
  '.cm-completionLabel': { whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '600' },
  '.cm-completionDetail': {
    marginLeft: 'auto',
    paddingLeft: '24px',
    fontFamily: 'var(--sans)',
    fontStyle: 'normal',
    color: 'var(--ink-2)',
    whiteSpace: 'nowrap',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
  },
  '.cm-diagnostic': { padding: '8px 12px', fontSize: '0.8125rem', maxWidth: 'min(560px, 92vw)' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)' },
  '.cm-snippetField': { background: 'var(--accent-soft)' },
});
