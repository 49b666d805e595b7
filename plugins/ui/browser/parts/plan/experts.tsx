import type { ComponentChildren, JSX } from 'preact';
import { sentence } from '../../model/format.js';
import { layOutTree } from '../../model/tree-text.js';
import type { PageExplanation } from '../../model/wire.js';
import { CopyButton } from '../copy-button.js';

/** Details for readers who know the internals of the proxy. */
export function Experts({ explanation }: { readonly explanation: PageExplanation }): JSX.Element {
  const { tree, formatted, histogram, names, namesText, reads } = explanation;
  return (
    <details class="experts">
      <summary>For experts: rules, syntax tree, histogram query</summary>
      <div class="plan-body">
        <Listing title="LogQL, formatted" text={formatted} />
        {histogram !== undefined && <Listing title="The query of the histogram" text={histogram} />}
        <Listing title="Syntax tree" text={layOutTree(tree)} />
        <Block title="Pushdown rules, as in docs/pushdown.md">
          <ul class="rules">
            {reads.flatMap(({ parts }) =>
              parts.map(({ part, rule, verdict }, index) => (
                <li key={`${index} ${part}`}>
                  <code>{part}</code> {rule}, {verdict}
                </li>
              )),
            )}
          </ul>
        </Block>
        {names !== 'unneeded' && (
          <Block title="Stored spellings of the names">
            <p>{sentence(namesText)}</p>
          </Block>
        )}
      </div>
    </details>
  );
}

function Block({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <h3 class="minor">{title}</h3>
      {children}
    </div>
  );
}

function Listing({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div>
      <div class="listing-head">
        <h3 class="minor">{title}</h3>
        <CopyButton text={text} label={`Copy: ${title}`} />
      </div>
      <pre class="listing" tabIndex={0} role="group" aria-label={title}>
        {text}
      </pre>
    </div>
  );
}
