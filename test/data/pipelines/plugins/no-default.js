export const stage = {};
