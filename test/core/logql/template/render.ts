import { compileTemplate, type Rendered } from '../../../../core/logql/template/index.js';

/** What a template makes of a few labels. */
export function render(
  template: string,
  labels: Readonly<Record<string, string>> = {},
  line = 'the line',
  timestampNs = 1_718_454_896_123_456_789n,
): Rendered {
  const known = new Map(Object.entries(labels));
  return compileTemplate(template).render(
    (name) => known.get(name),
    line,
    timestampNs,
    () => known,
  );
}

/** The text of a template that has no fault. */
export function textOf(template: string, labels: Readonly<Record<string, string>> = {}): string {
  const rendered = render(template, labels);
  return 'text' in rendered ? rendered.text : `fault: ${rendered.error}`;
}
