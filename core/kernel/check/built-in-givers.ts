/** The built-in stages that give what other built-in stages cannot do without, and the one that answers: advice names them. */
export const builtInGivers: ReadonlyMap<string, string> = new Map([
  ['tenant', 'tenancy'],
  ['plan', 'translate'],
  ['upstream', 'backend'],
]);
export const builtInAnswerer = 'response-shape';
