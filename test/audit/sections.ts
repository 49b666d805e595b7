import { access } from './access.js';
import { answers } from './answers.js';
import { caching } from './caching.js';
import { endpoints } from './endpoints.js';
import { errors } from './errors.js';
import { flags } from './flags.js';
import { guards } from './guards.js';
import { names } from './names.js';
import { peers } from './peers.js';
import { signals } from './signals.js';
import { windows } from './windows.js';
import type { Section } from './section.js';

/** The specification, part by part. */
export const sections: readonly Section[] = [flags, answers, names, endpoints, access, errors, guards, signals, caching, windows, peers];
