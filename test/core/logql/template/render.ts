import { compileTemplate, type Rendered } from '../../../../core/logql/template/index.js';

/** Renders a template with a few labels. */
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

/** The rendered text, or the fault of the template. */
export function textOf(template: string, labels: Readonly<Record<string, string>> = {}): string {
  const rendered = render(template, labels);
  return 'text' in rendered ? rendered.text : `fault: ${rendered.error}`;
}
