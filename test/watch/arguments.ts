/** The options of a suite's command: `--requests=1000 --seed=7`. */
export interface RunArguments {
  number(name: string, otherwise: number): number;
  text(name: string, otherwise: string): string;
  flag(name: string): boolean;
}

/** Parses a command line; an unknown option ends the run with a list of the known ones. */
export function readArguments(args: readonly string[], known: readonly string[]): RunArguments {
  const given = new Map<string, string>();
  for (const arg of args) {
    const found = /^--?([\w-]+)(?:=(.*))?$/s.exec(arg);
    const name = found?.[1] ?? '';
    if (!known.includes(name))
      throw new Error(`unknown option ${arg}; there are ${known.map((each) => `--${each}`).join(', ')}`);
    given.set(name, found?.[2] ?? 'true');
  }
  return {
    number: (name, otherwise) => {
      const text = given.get(name);
      if (text === undefined) return otherwise;
      const value = Number(text);
      if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} is no number: ${text}`);
      return value;
    },
    text: (name, otherwise) => given.get(name) ?? otherwise,
    flag: (name) => given.has(name) && given.get(name) !== 'false',
  };
}
