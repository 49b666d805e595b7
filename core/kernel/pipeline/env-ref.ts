/** How a text in a pipeline file refers to the environment. */
export type EnvText =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'reference'; readonly name: string; readonly fallback?: string }
  /** `${` that is neither a whole reference nor escaped. */
  | { readonly kind: 'bad'; readonly reason: 'part-of-value' | 'bad-name' };

const whole = /^\$\{([^}:]*)(?::-(.*))?\}$/s;
const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Parses `${NAME}` and `${NAME:-default}`; `$${` is a literal `${`. A reference must be the whole value. */
export function readEnvText(text: string): EnvText {
  if (!/(^|[^$])\$\{/.test(text)) return { kind: 'text', value: text.replaceAll('$${', '${') };
  const match = whole.exec(text);
  // A brace inside the default would make two references look like one: `${A:-x}-${B}`.
  if (match === null || match[2]?.includes('}') === true) return { kind: 'bad', reason: 'part-of-value' };
  const [, variable = '', fallback] = match;
  if (!name.test(variable)) return { kind: 'bad', reason: 'bad-name' };
  return fallback === undefined
    ? { kind: 'reference', name: variable }
    : { kind: 'reference', name: variable, fallback };
}

/** The value of a reference: the variable, or the default when it is unset or empty; undefined when there is neither. */
export function resolveReference(
  reference: { readonly name: string; readonly fallback?: string },
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const value = Object.hasOwn(env, reference.name) ? env[reference.name] : undefined;
  if (reference.fallback !== undefined && (value === undefined || value === '')) return reference.fallback;
  return value;
}

/** Types a text as a plain YAML scalar (core schema). Empty text stays text: an empty variable is not a missing value. */
export function typeScalar(text: string): string | number | boolean | null {
  if (/^(?:~|null|Null|NULL)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?[0-9]+$/.test(text)) return Number.parseInt(text, 10);
  if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8);
  if (/^0x[0-9a-fA-F]+$/.test(text)) return Number.parseInt(text.slice(2), 16);
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text))
    return Number.parseFloat(text);
  return text;
}
