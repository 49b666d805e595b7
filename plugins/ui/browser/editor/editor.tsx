import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { linter, type Diagnostic } from '@codemirror/lint';
import { Annotation, EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder, tooltips } from '@codemirror/view';
import type { JSX, Ref } from 'preact';
import { useEffect, useImperativeHandle, useRef } from 'preact/hooks';
import { completionOf, type Names } from './completion.js';
import { logqlSupport } from './language.js';
import { theme } from './theme.js';

/** Actions on the editor. */
export interface EditorHandle {
  focus(): void;
  /** Selects a part of the query and focuses the editor. */
  select(start: number, end: number): void;
}

interface Properties {
  readonly handle: Ref<EditorHandle>;
  readonly text: string;
  /** Changes when the editor must take over the text; otherwise it was typed here. */
  readonly version: number;
  readonly names: Names;
  /** Checks a query for errors; called when typing pauses. */
  readonly check: (text: string) => Promise<readonly Diagnostic[]>;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** Marks a change that did not come from the keyboard. */
const takenOver = Annotation.define<boolean>();
const checkAfterMs = 400;
/** Maximum length of a query on the server. */
const maxCharacters = 131_072;

/** An editor for LogQL. Tab leaves it, Escape closes its list, Ctrl+Enter or Cmd+Enter and Shift+Enter run the query. */
export function Editor(properties: Properties): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  // The editor lives as long as the page, and always uses the current properties.
  const current = useRef(properties);
  current.current = properties;
  useEffect(() => {
    if (host.current === null) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const made = new EditorView({ root, parent: root, state: stateOf(current) });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = view.current;
    const { text } = current.current;
    if (made === undefined || made.state.doc.toString() === text) return;
    const changes = { from: 0, to: made.state.doc.length, insert: text };
    made.dispatch({ changes, selection: { anchor: text.length }, annotations: takenOver.of(true) });
  }, [properties.version]);
  useImperativeHandle(
    properties.handle,
    () => ({
      focus: () => view.current?.focus(),
      select: (start, end) => {
        const length = view.current?.state.doc.length ?? 0;
        view.current?.focus();
        view.current?.dispatch({
          selection: { anchor: Math.min(start, length), head: Math.min(end, length) },
          scrollIntoView: true,
        });
      },
    }),
    [],
  );
  return <div ref={host} id="query" class="editor" />;
}

function stateOf(current: { readonly current: Properties }): EditorState {
  const names: Names = {
    labels: (selector) => current.current.names.labels(selector),
    values: (name, selector) => current.current.names.values(name, selector),
    fields: (logQuery) => current.current.names.fields(logQuery),
  };
  const run = (): boolean => {
    current.current.onRun();
    return true;
  };
  return EditorState.create({
    doc: current.current.text,
    extensions: [
      Prec.highest(
        keymap.of([
          { key: 'Mod-Enter', run },
          { key: 'Ctrl-Enter', run },
          { key: 'Shift-Enter', run },
        ]),
      ),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ override: [completionOf(names)], icons: false, maxRenderedOptions: 200 }),
      linter((view) => current.current.check(view.state.doc.toString()), { delay: checkAfterMs }),
      tooltips({ position: 'fixed' }),
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      logqlSupport,
      theme,
      EditorView.lineWrapping,
      placeholder('{service_name="checkout"} |= "error"'),
      EditorView.contentAttributes.of({
        'aria-label': 'LogQL query',
        autocapitalize: 'off',
        autocorrect: 'off',
        spellcheck: 'false',
      }),
      EditorState.changeFilter.of((change) => change.newDoc.length <= maxCharacters),
      EditorView.updateListener.of((update) => {
        const isTyped = !update.transactions.some((one) => one.annotation(takenOver) === true);
        if (update.docChanged && isTyped) current.current.onChange(update.state.doc.toString());
      }),
    ],
  });
}
